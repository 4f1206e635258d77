// What tests ask of Groundwire.Client itself: `filters` reads a line of JSON for each case and prints the filter or the
// refusal; `evidence` and `scopes` print the request that evidence sends, and what it makes of the answer; `cancel` prints
// what a cancelled call throws; `options` what options that break rules are told.

using System;
using System.Collections.Generic;
using System.Text.Json;
using System.Threading;
using System.Threading.Tasks;
using Google.Protobuf;
using Groundwire.Client;
using Groundwire.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;
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
                Address = new Uri("http://localhost"), Repository = "shop", Branch = "main", BudgetTokens = 300,
            }),
            NullLogger<GroundwireClient>.Instance);
        var evidence = await asking.EvidenceAsync(
            "vat?", new NodeFilter { Languages = { "csharp" } }, phrasings: new[] { "tax rate", "GetRate VatRate" },
            phrase: true, shownIds: new[] { "z" }, scopes: scopes);
        foreach (var request in answering.Requests)
        {
            Console.WriteLine(JsonFormatter.Default.Format(request));
        }
        Console.WriteLine(JsonSerializer.Serialize(evidence));
        break;
    case "nothing":
        var empty = new Answering(false);
        var warned = new Warnings();
        var asked = new GroundwireClient(
            empty, Options.Create(new GroundwireOptions { Address = new Uri("http://localhost") }), warned);
        empty.FindsNothing = true;
        await asked.EvidenceAsync("vat?", new NodeFilter { Kinds = { "csharp" } });
        Console.WriteLine(string.Join("\n", warned.Messages));
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

/// <summary>Answers with two passages of a file, one that an edge joins to the first, and a node that is only named.</summary>
internal sealed class Answering : CallInvoker
{
    private readonly bool ofSeveral;

    public Answering(bool ofSeveral) => this.ofSeveral = ofSeveral;

    public bool FindsNothing { get; set; }

    public List<IMessage> Requests { get; } = new();

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request)
    {
        Requests.Add(request as IMessage ?? throw new InvalidCastException());
        IMessage response = request switch
        {
            GetIndexRequest => new GetIndexResponse { Kinds = { "cs", "sql" } },
            _ when FindsNothing => new GatherEvidenceResponse { Index = "v1" },
            _ => Answer(),
        };
        return new(Task.FromResult((TResponse)response));
    }

    private GatherEvidenceResponse Answer()
    {
        IndexScope[] own = { Of("shop", "v1"), Of("team-b", "v2") };
        var answer = new GatherEvidenceResponse
        {
            Index = ofSeveral ? "" : "v1",
            Rendered = "[2] a.cs:3-9 A.f\n...",
            UsedTokens = 50,
            Weak = new Weakness { Reason = "no passage has the word vat" },
            Phrasings = { "tax rate", "GetRate VatRate", "value added tax" },
            Passages =
            {
                new Passage
                {
                    Number = 2, Id = "a", Scope = own[0], Citation = "a.cs:3-9", Location = At("a.cs"), Symbol = "A.f",
                    Kind = "cs", Form = PassageForm.Part, TokenCount = 20, NodeTokenCount = 90,
                    Parts = { new PassagePart { StartLine = 3, Text = "A" }, new PassagePart { StartLine = 9, Text = "}" } },
                    Match = new PassageMatch { Rank = 1, Score = 2 },
                },
                new Passage
                {
                    Number = 3, Id = "b", Scope = own[ofSeveral ? 1 : 0], Citation = "b", Form = PassageForm.Whole,
                    TokenCount = 10, NodeTokenCount = 10, Parts = { new PassagePart { Text = "B" } },
                    Edge = new PassageEdge { Number = 2 },
                },
            },
            Named =
            {
                new NamedNode
                {
                    Id = "z", Scope = own[0], Citation = "c.md:3-9", Location = At("c.md"), Symbol = "Tax > Rates",
                    Kind = "md", NodeTokenCount = 5_000, Number = 1,
                },
            },
        };
        if (ofSeveral)
        {
            answer.Scopes.Add(own);
        }
        return answer;
    }

    private static IndexScope Of(string repository, string index) =>
        new() { Repository = repository, Branch = "main", ActiveIndex = index };

    private static SourceLocation At(string path) => new() { Path = path, StartLine = 3, EndLine = 9 };
}

/// <summary>Keeps what the client logs.</summary>
internal sealed class Warnings : ILogger<GroundwireClient>
{
    public List<string> Messages { get; } = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception,
        Func<TState, Exception?, string> formatter) => Messages.Add($"{logLevel}: {formatter(state, exception)}");
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
