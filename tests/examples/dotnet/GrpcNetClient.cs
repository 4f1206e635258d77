// Stands in for the part of the packages Grpc.Net.Client and Grpc.Net.ClientFactory that the client and the examples
// use: unary calls of gRPC with HttpClient alone. Names and signatures are those of the packages.

using System;
using System.Buffers.Binary;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Grpc.Core;
using Microsoft.Extensions.DependencyInjection;

namespace Grpc.Net.Client
{
    public sealed class GrpcChannelOptions
    {
        public HttpMessageHandler? HttpHandler { get; set; }
    }

    public sealed class GrpcChannel : ChannelBase, IDisposable
    {
        private readonly HttpClient http;

        private GrpcChannel(HttpClient http) => this.http = http;

        public static GrpcChannel ForAddress(string address, GrpcChannelOptions channelOptions) =>
            new(new HttpClient(channelOptions.HttpHandler!) { BaseAddress = new Uri(address) });

        public override CallInvoker CreateCallInvoker() => new HttpCallInvoker(http);

        public void Dispose() => http.Dispose();
    }

    internal sealed class HttpCallInvoker : CallInvoker
    {
        private const int PrefixBytes = 5;

        private readonly HttpClient http;

        public HttpCallInvoker(HttpClient http)
        {
            this.http = http;
            http.Timeout = Timeout.InfiniteTimeSpan;
        }

        public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
            Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request) =>
            new(CallAsync(method, options, request));

        private async Task<TResponse> CallAsync<TRequest, TResponse>(
            Method<TRequest, TResponse> method, CallOptions options, TRequest request)
        {
            var left = options.Deadline - DateTime.UtcNow ?? Timeout.InfiniteTimeSpan;
            using var expiry = CancellationTokenSource.CreateLinkedTokenSource(options.CancellationToken);
            expiry.CancelAfter(options.Deadline is null || left > TimeSpan.Zero ? left : TimeSpan.Zero);
            try
            {
                using var message = CreateMessage(method.FullName, method.Serializer(request), options, left);
                using var response = await http.SendAsync(message, expiry.Token);
                var body = await response.Content.ReadAsByteArrayAsync(expiry.Token);
                Check(response);
                return method.Deserializer(body[PrefixBytes..]);
            }
            catch (OperationCanceledException)
            {
                throw options.CancellationToken.IsCancellationRequested
                    ? Error(StatusCode.Cancelled, "Call canceled by the client.")
                    : Error(StatusCode.DeadlineExceeded, "");
            }
            catch (HttpRequestException error)
            {
                throw Error(CodeOf(error), "Error starting gRPC call. " + error.Message);
            }
        }

        private static HttpRequestMessage CreateMessage(string method, byte[] body, CallOptions options, TimeSpan left)
        {
            var frame = new byte[PrefixBytes + body.Length];
            BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), body.Length);
            body.CopyTo(frame, PrefixBytes);
            var message = new HttpRequestMessage(HttpMethod.Post, method)
            {
                Version = HttpVersion.Version20,
                VersionPolicy = HttpVersionPolicy.RequestVersionExact,
                Content = new ByteArrayContent(frame),
            };
            message.Content.Headers.ContentType = new MediaTypeHeaderValue("application/grpc");
            message.Headers.TE.ParseAdd("trailers");
            if (options.Deadline is not null)
            {
                message.Headers.Add("grpc-timeout", $"{(long)Math.Max(1, left.TotalMilliseconds)}m");
            }
            foreach (var entry in options.Headers ?? new Metadata())
            {
                message.Headers.Add(entry.Key, entry.Value);
            }
            return message;
        }

        private static void Check(HttpResponseMessage response)
        {
            // A call that failed at once has its status among the headers.
            var headers = response.TrailingHeaders.NonValidated.Contains("grpc-status")
                ? response.TrailingHeaders
                : response.Headers;
            var trailers = new Metadata();
            foreach (var (key, values) in headers.NonValidated)
            {
                var value = values.ToString();
                if (key.EndsWith("-bin", StringComparison.Ordinal))
                {
                    // Binary metadata comes without padding.
                    trailers.Add(key, Convert.FromBase64String(value.PadRight((value.Length + 3) / 4 * 4, '=')));
                }
                else
                {
                    trailers.Add(key, value);
                }
            }
            var code = trailers.GetValue("grpc-status");
            if (code is null)
            {
                throw Error(StatusCode.Unavailable, $"Bad gRPC response. HTTP status code: {(int)response.StatusCode}");
            }
            if (code != "0")
            {
                var detail = Uri.UnescapeDataString(trailers.GetValue("grpc-message") ?? "");
                throw new RpcException(new Status((StatusCode)int.Parse(code), detail), trailers);
            }
        }

        private static RpcException Error(StatusCode code, string detail) =>
            new(new Status(code, detail), new Metadata());

        /// <summary>As Grpc.Net.Client does: any failure but the network's is Internal, such as TLS's.</summary>
        private static StatusCode CodeOf(Exception? error) => error switch
        {
            null => StatusCode.Internal,
            SocketException or IOException => StatusCode.Unavailable,
            _ => CodeOf(error.InnerException),
        };
    }
}

namespace Grpc.Net.ClientFactory
{
    public class GrpcClientFactoryOptions
    {
        public Uri? Address { get; set; }
    }
}

namespace Microsoft.Extensions.DependencyInjection
{
    using Grpc.Net.Client;
    using Grpc.Net.ClientFactory;

    public static class GrpcClientServiceExtensions
    {
        public static IHttpClientBuilder AddGrpcClient<TClient>(
            this IServiceCollection services, Action<IServiceProvider, GrpcClientFactoryOptions> configureClient)
            where TClient : class
        {
            services.AddTransient(provider =>
            {
                var options = new GrpcClientFactoryOptions();
                configureClient(provider, options);
                var http = provider.GetRequiredService<IHttpClientFactory>().CreateClient(typeof(TClient).Name);
                http.BaseAddress = options.Address;
                return ActivatorUtilities.CreateInstance<TClient>(provider, new HttpCallInvoker(http));
            });
            return services.AddHttpClient(typeof(TClient).Name);
        }
    }
}
