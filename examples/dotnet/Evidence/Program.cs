using System;
using System.Linq;
using System.Net.Http;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Threading.Tasks;
using Groundwire.Client;
using Groundwire.Evidence;
using Groundwire.V1;
using Grpc.Net.Client;

// Evidence for a question, printed as JSON lines: search -> expand -> fetch, or one call of GatherEvidence.
var json = new JsonSerializerOptions
{
    Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
};
try
{
    var options = new Options(args);
    var client = Connect(options);
    await (options.Call == "evidence" ? PrintEvidenceAsync(client, options) : PrintActionsAsync(client, options));
    return 0;
}
catch (GroundwireException failure)
{
    Print(new
    {
        Type = "error", failure.Method, Status = WireName(failure.StatusCode), failure.Message,
        Reason = failure.ReasonName, failure.Metadata,
        Violations = failure.Violations.Select(broken => new { broken.Field, broken.Description }),
    });
    return 1;
}
catch (UsageException exception)
{
    Console.Error.WriteLine($"{exception.Message}\n\n{Options.Usage}");
    return 2;
}

static GroundwireClient Connect(Options options)
{
    if (options.TokenFile is not null)
    {
        options.ReadToken();
    }
    var address = $"{(options.IsSecured ? "https" : "http")}://{options.Server}";
    var handler = options.IsSecured ? MutualTls.CreateHandler(options) : new SocketsHttpHandler();
    var channel = GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler });
    var settings = new GroundwireOptions
    {
        Address = new Uri(address),
        Repository = options.Repository,
        Branch = options.Branch,
        Timeout = options.Deadline,
        TokenProvider = options.TokenFile is null ? null : _ => ValueTask.FromResult(options.ReadToken()),
    };
    return new GroundwireClient(
        channel.CreateCallInvoker(), Microsoft.Extensions.Options.Options.Create(settings), new StandardError());
}

async Task PrintEvidenceAsync(GroundwireClient client, Options options)
{
    var evidence = await client.EvidenceAsync(
        options.Query, options.Filter, options.Access, options.BudgetTokens, options.Phrasings);
    foreach (var text in evidence.Texts)
    {
        Print(new { Type = "text", text.Number, text.Id, text.Citation, text.TokenCount, text.Text });
    }
    foreach (var node in evidence.Named)
    {
        Print(new { Type = "named", node.Id, node.Citation });
    }
    if (evidence.Weak.Length > 0)
    {
        Print(new { Type = "weak", Reason = evidence.Weak });
    }
    Print(new { Type = "done", evidence.Index, evidence.UsedTokens });
}

async Task PrintActionsAsync(GroundwireClient client, Options options)
{
    var found = await client.SearchNodesAsync(new SearchNodesRequest
    {
        Scope = client.Scope,
        Access = options.Access,
        Filter = options.Filter,
        SearchType = options.SearchType,
        Query = options.Query,
        TopK = options.TopK,
    });
    foreach (var hit in found.Hits)
    {
        Print(new { Type = "hit", hit.Rank, hit.Score, hit.Id });
    }
    var usedTokens = found.Hits.Count == 0 ? 0 : await PrintNeighbourhoodAsync(client, options, found);
    Print(new { Type = "done", found.Index, UsedTokens = usedTokens });
}

async Task<long> PrintNeighbourhoodAsync(GroundwireClient client, Options options, SearchNodesResponse found)
{
    // The next calls read the index version that the search read.
    var scope = client.Scope;
    scope.ActiveIndex = found.Index;
    var seeds = found.Hits.Select(hit => hit.Id).ToList();
    var graph = await client.ExpandDependencyTreeAsync(new ExpandDependencyTreeRequest
    {
        Scope = scope,
        Access = options.Access,
        Filter = options.Filter,
        SeedIds = { seeds },
        MaxDepth = options.MaxDepth,
        MaxNodes = options.MaxNodes,
        EdgeAllowlist = { "*" },
    });
    foreach (var edge in graph.Edges)
    {
        Print(new { Type = "edge", From = edge.FromId, To = edge.ToId, edge.EdgeType });
    }
    var evidence = await client.FetchNodeTextsAsync(new FetchNodeTextsRequest
    {
        Scope = scope,
        Access = options.Access,
        Filter = options.Filter,
        SeedIds = { seeds },
        Nodes = { graph.Nodes },
        BudgetTokens = options.BudgetTokens,
    });
    foreach (var text in evidence.Texts)
    {
        var (path, line) = (text.Location?.Path ?? "", text.Location?.StartLine ?? 0);
        Print(new
        {
            Type = "text", text.Id, text.IsSeed, text.Depth, Path = path, StartLine = line, text.TokenCount, text.Text,
        });
    }
    return evidence.UsedTokens;
}

void Print(object line) => Console.WriteLine(JsonSerializer.Serialize(line, json));

// InvalidArgument -> INVALID_ARGUMENT
static string WireName(Enum value) => JsonNamingPolicy.SnakeCaseUpper.ConvertName(value.ToString());
