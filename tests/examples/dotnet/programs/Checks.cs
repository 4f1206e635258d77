// What tests ask of Groundwire.Client itself: `filters` reads a line of JSON for each case and prints the filter or the
// refusal; `evidence` prints the requests that evidence sends, and what it makes of the answers; `cancel` prints what a cancelled call throws; `options` what options that break rules are told.

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
    case "evidence" or "scopes":
        IndexScope[]? scopes = args[0] == "scopes"
            ? new IndexScope[]
            {
                new() { Repository = "shop", Branch = "main" }, new() { Repository = "team-*", Branch = "*" },
            }
            : null;
        var answering = new Answering(scopes is not null);
        var asking = new GroundwireClient(
            answering,
            Options.Create(new GroundwireOptions
            {
                Address = new Uri("http://localhost"), Repository = "shop", Branch = "main", BudgetTokens = 100,
            }),
            NullLogger<GroundwireClient>.Instance);
        var evidence = await asking.EvidenceAsync("vat?", new NodeFilter { Languages = { "csharp" } }, scopes: scopes);
        foreach (var request in answering.Requests)
        {
            Console.WriteLine(JsonFormatter.Default.Format(request));
        }
        Console.WriteLine(JsonSerializer.Serialize(evidence));
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

/// <summary>Answers a query with texts, one that had no room and one that is too large; then fetches in two calls.</summary>
internal sealed class Answering : CallInvoker
{
    private readonly bool ofSeveral;

    public Answering(bool ofSeveral) => this.ofSeveral = ofSeveral;

    public List<IMessage> Requests { get; } = new();

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request)
    {
        Requests.Add(request as IMessage ?? throw new InvalidCastException());
        IMessage response = request is QueryRequest ? Answer() : Fetched(Requests.Count == 2 ? "b" : "d");
        if (ofSeveral && response is QueryResponse answer)
        {
            answer.Index = "";
            IndexScope[] own = { Of("shop", "v1"), Of("team-b", "v2") };
            answer.Scopes.Add(own);
            foreach (var match in answer.Matches)
            {
                match.Scope = own[match.Id == "d" ? 1 : 0];
            }
        }
        return new(Task.FromResult((TResponse)response));
    }

    private static IndexScope Of(string repository, string index) =>
        new() { Repository = repository, Branch = "main", ActiveIndex = index };

    private static QueryResponse Answer() => new()
    {
        Index = "v1",
        Meta = new RetrieveMeta { UsedTokens = 10 },
        Matches =
        {
            new QueryMatch
            {
                Id = "a", Rank = 1, Score = 2, Text = "A", TokenCount = 10, Symbol = "A.f", Location = At("a.cs"),
                Citation = "a.cs:3-9",
            },
            new QueryMatch
            {
                Id = "b", Rank = 2, TextOmitted = true, OmitReason = SkipReason.ResponseLimit, TokenCount = 20,
                Citation = "b",
            },
            new QueryMatch
            {
                Id = "c", Rank = 3, TextOmitted = true, OmitReason = SkipReason.OverBudget, TokenCount = 5_000,
                SectionPath = "Tax > Rates", Location = At("c.md"), Citation = "c.md:3-9",
            },
            new QueryMatch
            {
                Id = "d", Rank = 4, TextOmitted = true, OmitReason = SkipReason.ResponseLimit, TokenCount = 20,
                Citation = "d",
            },
        },
    };

    private static SourceLocation At(string path) => new() { Path = path, StartLine = 3, EndLine = 9 };

    private static FetchNodeTextsResponse Fetched(string id) => new()
    {
        Texts = { new NodeText { Id = id, Text = id.ToUpperInvariant(), TokenCount = 20 } },
        UsedTokens = 20,
    };
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
