using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Groundwire.Client;
using Grpc.Core;
using Microsoft.AspNetCore.Diagnostics;
using Microsoft.AspNetCore.Http;

namespace Groundwire.AspNetCore;

/// <summary>Answers a failed call with problem details (RFC 9457), by status code and never by message.</summary>
internal sealed class GroundwireExceptionHandler : IExceptionHandler
{
    public async ValueTask<bool> TryHandleAsync(
        HttpContext httpContext, Exception exception, CancellationToken cancellationToken)
    {
        if (exception is not GroundwireException failure)
        {
            return false;
        }
        if (failure.RetryDelay is { } delay)
        {
            httpContext.Response.Headers["Retry-After"] = ((int)Math.Ceiling(delay.TotalSeconds)).ToString();
        }
        var problem = Results.Problem(
            title: failure.ReasonName,
            // The message of another failure may say more about this service than the caller may know.
            detail: failure.StatusCode == StatusCode.InvalidArgument ? failure.Message : null,
            statusCode: HttpStatus(failure.StatusCode),
            extensions: new Dictionary<string, object?>
            {
                ["violations"] = failure.Violations.Select(broken => new { broken.Field, broken.Description }),
            });
        await problem.ExecuteAsync(httpContext);
        return true;
    }

    private static int HttpStatus(StatusCode code) => code switch
    {
        StatusCode.InvalidArgument => StatusCodes.Status400BadRequest,
        StatusCode.NotFound => StatusCodes.Status404NotFound,
        StatusCode.PermissionDenied => StatusCodes.Status403Forbidden,
        StatusCode.ResourceExhausted or StatusCode.Unavailable => StatusCodes.Status503ServiceUnavailable,
        StatusCode.DeadlineExceeded => StatusCodes.Status504GatewayTimeout,
        // Such as a token of this service that was refused: not the fault of who asked.
        _ => StatusCodes.Status502BadGateway,
    };
}
