using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Threading.Tasks;

namespace Groundwire.Evidence;

/// <summary>Evidence for a question: search -> expand -> fetch, printed as JSON lines.</summary>
public static class EvidenceProgram
{
    private static readonly JsonSerializerOptions Json = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
    };

    /// <summary>Runs over the transport that <paramref name="connect"/> makes, and returns the exit code.</summary>
    public static async Task<int> RunAsync(string[] arguments, Func<Options, IRetrieval> connect)
    {
        try
        {
            var options = new Options(arguments);
            await PrintEvidenceAsync(connect(options), new Retries(options.Deadline, options.TokenFile), options);
            return 0;
        }
        catch (CallFailure failure)
        {
            var details = failure.Details;
            Print(new
            {
                Type = "error", failure.Method, failure.Status, failure.Message, details.Reason, details.Metadata,
                details.Violations,
            });
            return 1;
        }
        catch (UsageException exception)
        {
            Console.Error.WriteLine($"{exception.Message}\n\n{Options.Usage}");
            return 2;
        }
    }

    private static async Task PrintEvidenceAsync(IRetrieval retrieval, Retries retries, Options options)
    {
        var scope = new Scope(options.Repository, options.Branch, ActiveIndex: "");
        var search = new SearchQuestion(scope, options.SearchType, options.Query, options.TopK);
        var found = await retries.CallAsync(retrieval.SearchNodesAsync, search);
        foreach (var hit in found.Hits)
        {
            Print(new { Type = "hit", hit.Rank, hit.Score, hit.Id });
        }
        // The next calls read the index version that the search read.
        var pinned = scope with { ActiveIndex = found.Index };
        var seeds = found.Hits.Select(hit => hit.Id).ToList();
        var usedTokens =
            seeds.Count == 0 ? 0 : await PrintNeighbourhoodAsync(retrieval, retries, options, pinned, seeds);
        Print(new { Type = "done", found.Index, UsedTokens = usedTokens });
    }

    private static async Task<long> PrintNeighbourhoodAsync(
        IRetrieval retrieval, Retries retries, Options options, Scope scope, IReadOnlyList<string> seeds)
    {
        var walk = new GraphQuestion(scope, seeds, options.MaxDepth, options.MaxNodes);
        var graph = await retries.CallAsync(retrieval.ExpandDependencyTreeAsync, walk);
        foreach (var edge in graph.Edges)
        {
            Print(new { Type = "edge", edge.From, edge.To, edge.EdgeType });
        }
        var wanted = new TextsQuestion(scope, seeds, graph.Nodes, options.BudgetTokens);
        var evidence = await retries.CallAsync(retrieval.FetchNodeTextsAsync, wanted);
        foreach (var text in evidence.Texts)
        {
            Print(new
            {
                Type = "text", text.Id, text.IsSeed, text.Depth, text.Path, text.StartLine, text.TokenCount,
                Text = text.Content,
            });
        }
        return evidence.UsedTokens;
    }

    private static void Print(object line) => Console.WriteLine(JsonSerializer.Serialize(line, Json));
}
