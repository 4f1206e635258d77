using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Groundwire.AspNetCore;
using Groundwire.Client;
using Groundwire.V1;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddGroundwire(builder.Configuration.GetRequiredSection("Groundwire").Bind);
builder.Services.AddHealthChecks().AddCheck<GroundwireHealthCheck>("groundwire");
builder.Services.AddProblemDetails();
builder.Services.AddExceptionHandler<GroundwireExceptionHandler>();

var app = builder.Build();
app.UseExceptionHandler();
app.MapHealthChecks("/healthz/live", new HealthCheckOptions { Predicate = _ => false });
app.MapHealthChecks("/healthz/ready");

// GET /evidence?question=where is VAT computed&language=csharp&is_test=false
app.MapGet("/evidence", (HttpRequest request, string question, GroundwireClient groundwire, CancellationToken ended) =>
{
    var wanted = new Dictionary<string, object?>();
    if (request.Query.TryGetValue("language", out var languages))
    {
        wanted["languages"] = languages.ToArray();
    }
    if (bool.TryParse(request.Query["is_test"], out var isTest))
    {
        wanted["is_test"] = isTest;
    }
    // The tags of who asks, as this service has authenticated them; never from the query string.
    var access = new AccessContext
    {
        AclTagsAny = { request.HttpContext.User.FindAll("acl_tag").Select(claim => claim.Value) },
    };
    return groundwire.EvidenceAsync(question, NodeFilters.From(wanted), access, cancellationToken: ended);
});
app.Run();
