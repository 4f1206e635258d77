using System.Threading;
using System.Threading.Tasks;
using Groundwire.Client;
using Groundwire.V1;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Groundwire.AspNetCore;

/// <summary>Healthy while the server answers, and has an index of the configured repository and branch.</summary>
internal sealed class GroundwireHealthCheck : IHealthCheck
{
    private readonly GroundwireClient groundwire;

    public GroundwireHealthCheck(GroundwireClient groundwire) => this.groundwire = groundwire;

    public async Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        try
        {
            var request = new GetIndexRequest { Scope = groundwire.Scope };
            await groundwire.GetIndexAsync(request, cancellationToken: cancellationToken);
            return HealthCheckResult.Healthy();
        }
        catch (GroundwireException failure)
        {
            return HealthCheckResult.Unhealthy($"{failure.StatusCode} {failure.ReasonName}", failure);
        }
    }
}
