using System;
using System.Net.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Groundwire.Client;

/// <summary>Adds Groundwire to a service.</summary>
public static class GroundwireServiceCollectionExtensions
{
    /// <summary>
    /// Adds <see cref="GroundwireClient"/>, over one channel that all its instances share. Options that break a rule
    /// end the program when it starts.
    /// </summary>
    /// <param name="services">The services of the program.</param>
    /// <param name="configure">Sets the options, such as <c>configuration.GetSection("Groundwire").Bind</c>.</param>
    /// <returns>
    /// The builder of the HTTP client below, for example to present a client certificate with
    /// <c>ConfigurePrimaryHttpMessageHandler</c>. Add no handler that retries: it cannot see how a call of gRPC ended.
    /// </returns>
    public static IHttpClientBuilder AddGroundwire(
        this IServiceCollection services, Action<GroundwireOptions> configure)
    {
        services.AddSingleton<IValidateOptions<GroundwireOptions>, OptionsValidation>();
        services.AddOptions<GroundwireOptions>().Configure(configure).ValidateOnStart();
        return services
            .AddGrpcClient<GroundwireClient>((provider, grpc) =>
                grpc.Address = provider.GetRequiredService<IOptions<GroundwireOptions>>().Value.Address)
            .ConfigurePrimaryHttpMessageHandler(CreateHandler);
    }

    private static HttpMessageHandler CreateHandler() => new SocketsHttpHandler
    {
        // Calls at a time on one connection are limited by the server; more connections carry more.
        EnableMultipleHttp2Connections = true,
        KeepAlivePingDelay = TimeSpan.FromSeconds(30),
        KeepAlivePingTimeout = TimeSpan.FromSeconds(10),
        ConnectTimeout = TimeSpan.FromSeconds(5),
    };

    private sealed class OptionsValidation : IValidateOptions<GroundwireOptions>
    {
        public ValidateOptionsResult Validate(string? name, GroundwireOptions options)
        {
            try
            {
                options.Validate();
                return ValidateOptionsResult.Success;
            }
            catch (ArgumentException error)
            {
                return ValidateOptionsResult.Fail(error.Message);
            }
        }
    }
}
