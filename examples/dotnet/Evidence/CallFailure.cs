using System;
using System.Collections.Generic;

namespace Groundwire.Evidence;

/// <summary>An error of Groundwire: a status, and what grpc-status-details-bin says about it.</summary>
public sealed class CallFailure : Exception
{
    private static readonly string[] StatusNames =
    {
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    };

    public CallFailure(string method, int code, string message, FailureDetails details)
        : base(message)
    {
        Method = method;
        Status = code >= 0 && code < StatusNames.Length ? StatusNames[code] : "UNKNOWN";
        Details = details;
    }

    public string Method { get; }

    /// <summary>The name of the status code, such as INVALID_ARGUMENT.</summary>
    public string Status { get; }

    public FailureDetails Details { get; }

    /// <summary>
    /// Whether another attempt makes sense. Busy servers say when to come back; RESOURCE_EXHAUSTED without that, such
    /// as an oversized message, stays so.
    /// </summary>
    public bool MayBeTriedAgain =>
        Status == "UNAVAILABLE" || (Status == "RESOURCE_EXHAUSTED" && Details.RetryAfter is not null);
}

/// <summary>What google.rpc.ErrorInfo, BadRequest and RetryInfo say; empty where the error carries none.</summary>
public sealed class FailureDetails
{
    public string Reason { get; set; } = "";

    public SortedDictionary<string, string> Metadata { get; } = new(StringComparer.Ordinal);

    public List<FieldViolation> Violations { get; } = new();

    /// <summary>How long the server asks to wait; null when it does not say.</summary>
    public TimeSpan? RetryAfter { get; set; }
}

public sealed record FieldViolation(string Field, string Description);
