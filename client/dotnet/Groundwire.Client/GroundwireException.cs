using System;
using System.Collections.Generic;
using System.Linq;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Google.Rpc;
using Groundwire.V1;
using Grpc.Core;

namespace Groundwire.Client;

/// <summary>One broken rule of a request.</summary>
/// <param name="Field">The field, as a path in the protos, such as <c>scope.repository</c>.</param>
/// <param name="Reason">Which kind of rule; Unspecified for one that only a newer server knows.</param>
/// <param name="Description">The value, the rule, and what to do.</param>
public sealed record FieldViolation(string Field, ErrorReason Reason, string Description);

/// <summary>A call failed. Decide by <see cref="StatusCode"/> and <see cref="Reason"/>, never by the message.</summary>
public sealed class GroundwireException : Exception
{
    private const string Domain = "groundwire";

    private static readonly EnumDescriptor Reasons =
        ErrorsReflection.Descriptor.FindTypeByName<EnumDescriptor>(nameof(ErrorReason));

    /// <summary>From what gRPC raises: details that are absent or malformed leave properties empty.</summary>
    /// <param name="method">The name of the called method, such as <c>Query</c>.</param>
    /// <param name="error">The error of gRPC.</param>
    public GroundwireException(string method, RpcException error)
        : base(error.Status.Detail, error)
    {
        Method = method;
        StatusCode = error.StatusCode;
        RequestId = error.Trailers.GetValue("x-request-id") ?? "";
        var status = error.Trailers.GetRpcStatus(ignoreParseError: true);
        if (First<ErrorInfo>(status) is { Domain: Domain } info)
        {
            ReasonName = info.Reason;
            Reason = ReasonOf(info.Reason);
            Metadata = new Dictionary<string, string>(info.Metadata);
        }
        Violations = (First<BadRequest>(status)?.FieldViolations ?? new())
            .Select(broken => new FieldViolation(broken.Field, ReasonOf(broken.Reason), broken.Description))
            .ToList();
        RetryDelay = First<RetryInfo>(status)?.RetryDelay?.ToTimeSpan();
    }

    /// <summary>The name of the called method, such as <c>Query</c>.</summary>
    public string Method { get; }

    /// <summary>The status code of gRPC.</summary>
    public StatusCode StatusCode { get; }

    /// <summary>
    /// Why, as <c>errors.proto</c> states it. Unspecified when no Groundwire server sent the error, and for a reason
    /// that only a newer server knows: see <see cref="ReasonName"/>.
    /// </summary>
    public ErrorReason Reason { get; }

    /// <summary>The reason as it was sent, such as <c>ERROR_REASON_OVERLOADED</c>; empty when there is none.</summary>
    public string ReasonName { get; } = "";

    /// <summary>Details, by the keys that <c>errors.proto</c> states at each reason.</summary>
    public IReadOnlyDictionary<string, string> Metadata { get; } = new Dictionary<string, string>();

    /// <summary>Each broken rule of a request that was refused with InvalidArgument; otherwise empty.</summary>
    public IReadOnlyList<FieldViolation> Violations { get; }

    /// <summary>How long the server asks to wait before the next attempt; null when it does not say.</summary>
    public TimeSpan? RetryDelay { get; }

    /// <summary>Finds the call in the server's log; empty when the server sent none.</summary>
    public string RequestId { get; }

    /// <summary>
    /// Whether another attempt makes sense. A busy server says when to come back; ResourceExhausted without that, such
    /// as a message that is too large, stays so.
    /// </summary>
    public bool MayBeTriedAgain =>
        StatusCode == StatusCode.Unavailable || (StatusCode == StatusCode.ResourceExhausted && RetryDelay is not null);

    /// <summary>The value that a name means; Unspecified for one that only a newer server knows.</summary>
    private static ErrorReason ReasonOf(string name) => (ErrorReason)(Reasons.FindValueByName(name)?.Number ?? 0);

    private static TDetail? First<TDetail>(Google.Rpc.Status? status)
        where TDetail : class, IMessage, new()
    {
        try
        {
            foreach (var detail in status?.Details ?? new())
            {
                if (detail.TryUnpack(out TDetail found))
                {
                    return found;
                }
            }
        }
        catch (InvalidProtocolBufferException)
        {
            // A detail that is malformed tells nothing; the status still stands.
        }
        return null;
    }
}
