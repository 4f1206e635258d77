using System;
using System.Globalization;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using Groundwire.Evidence;

/// <summary>How a call of gRPC ended.</summary>
internal static class GrpcStatus
{
    public const int DeadlineExceeded = 4;
    public const int Internal = 13;
    public const int Unavailable = 14;

    private const int Unknown = 2;
    private const int PermissionDenied = 7;
    private const int Unimplemented = 12;
    private const int Unauthenticated = 16;
    private const string TypePrefix = "type.googleapis.com/google.rpc.";

    /// <summary>Throws <see cref="CallFailure"/> unless the response, read to its end, says OK.</summary>
    public static void Check(string method, HttpResponseMessage response)
    {
        // A call that failed at once has its status among the headers.
        var trailers = response.TrailingHeaders.NonValidated.Contains("grpc-status")
            ? response.TrailingHeaders
            : response.Headers;
        var status = Value(trailers, "grpc-status");
        if (status is null)
        {
            var text = $"HTTP status {(int)response.StatusCode} without a gRPC status";
            throw new CallFailure(method, CodeOf(response.StatusCode), text, new FailureDetails());
        }
        if (status == "0")
        {
            return;
        }
        var code = int.TryParse(status, NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number
            : Unknown;
        var message = Uri.UnescapeDataString(Value(trailers, "grpc-message") ?? "");
        throw new CallFailure(method, code, message, ReadDetails(Value(trailers, "grpc-status-details-bin")));
    }

    /// <summary>The status of an answer that no gRPC server gave, such as a proxy's.</summary>
    private static int CodeOf(HttpStatusCode code) => (int)code switch
    {
        400 => Internal,
        401 => Unauthenticated,
        403 => PermissionDenied,
        404 => Unimplemented,
        429 or 502 or 503 or 504 => Unavailable,
        _ => Unknown,
    };

    /// <summary>Reads a google.rpc.Status; the fields are numbered as in google/rpc/error_details.proto.</summary>
    private static FailureDetails ReadDetails(string? encoded)
    {
        var details = new FailureDetails();
        foreach (var any in new ProtoReader(FromBase64(encoded ?? "")).Messages(3))
        {
            var detail = any.Message(2);
            switch (any.String(1))
            {
                case TypePrefix + "ErrorInfo":
                    details.Reason = detail.String(1);
                    foreach (var entry in detail.Messages(3))
                    {
                        details.Metadata[entry.String(1)] = entry.String(2);
                    }
                    break;
                case TypePrefix + "BadRequest":
                    details.Violations.AddRange(detail.Messages(1).Select(
                        broken => new FieldViolation(broken.String(1), broken.String(2))));
                    break;
                case TypePrefix + "RetryInfo":
                    var delay = detail.Message(1);
                    details.RetryAfter =
                        TimeSpan.FromSeconds(delay.Int64(1)) + TimeSpan.FromMilliseconds(delay.Int32(2) / 1e6);
                    break;
            }
        }
        return details;
    }

    private static string? Value(HttpResponseHeaders headers, string name) =>
        headers.NonValidated.TryGetValues(name, out var values) ? values.ToString() : null;

    /// <summary>Binary metadata comes without padding.</summary>
    private static byte[] FromBase64(string text) =>
        Convert.FromBase64String(text.PadRight((text.Length + 3) / 4 * 4, '='));
}
