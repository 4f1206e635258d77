// What tests ask of Groundwire.Client itself: `filters` reads a line of JSON for each case and prints the filter or the
// refusal; `cancel` prints what a cancelled call throws; `options` what options that break rules are told.

using System;
using System.Collections.Generic;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Google.Protobuf;
using Groundwire.Client;
using Groundwire.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

switch (args[0])
{
    case "filters":
        while (Console.ReadLine() is { } line)
        {
            var given = JsonSerializer.Deserialize<Dictionary<string, object?>[]>(line)!;
            Console.WriteLine(Outcome(() => JsonFormatter.Default.Format(NodeFilters.From(given[0], given[1]))));
        }
        break;
    case "cancel":
        var client = new GroundwireClient(
            new Waiting(), Options.Create(new GroundwireOptions { Address = new Uri("http://localhost") }),
            NullLogger<GroundwireClient>.Instance);
        using (var ended = new CancellationTokenSource(TimeSpan.FromMilliseconds(50)))
        {
            try
            {
                await client.EvidenceAsync("?", cancellationToken: ended.Token);
            }
            catch (Exception error)
            {
                Console.WriteLine(error.GetType().Name);
            }
        }
        break;
    case "options":
        static ValueTask<string> Token(CancellationToken cancellation) => ValueTask.FromResult("a.b.c");
        var (near, far) = (new Uri("http://localhost:1"), new Uri("http://groundwire:1"));
        foreach (var options in new GroundwireOptions[]
        {
            new(),
            new() { Address = new Uri("localhost:1") },
            new() { Address = near, BudgetTokens = 0 },
            new() { Address = near, Timeout = TimeSpan.Zero },
            new() { Address = far, TokenProvider = Token },
            new() { Address = near, TokenProvider = Token },
            new() { Address = far, TokenProvider = Token, AllowPlaintextToken = true },
        })
        {
            Console.WriteLine(Outcome(() =>
            {
                options.Validate();
                return "valid";
            }));
        }
        break;
}

static string Outcome(Func<string> make)
{
    try
    {
        return make();
    }
    catch (ArgumentException error)
    {
        return $"refused: {error.Message}";
    }
}

/// <summary>Calls that last until they are cancelled, and then end as gRPC ends them.</summary>
internal sealed class Waiting : CallInvoker
{
    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request) =>
        new(WaitAsync<TResponse>(options.CancellationToken));

    private static async Task<TResponse> WaitAsync<TResponse>(CancellationToken cancellation)
    {
        await Task.Delay(Timeout.Infinite, cancellation).ContinueWith(_ => { }, TaskScheduler.Default);
        throw new RpcException(new Status(StatusCode.Cancelled, "Call canceled by the client."), new Metadata());
    }
}
