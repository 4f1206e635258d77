using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Groundwire.Evidence;

/// <summary>The three actions, over whatever transport. Every method throws <see cref="CallFailure"/>.</summary>
public interface IRetrieval
{
    Task<SearchAnswer> SearchNodesAsync(SearchQuestion question, CallContext context);

    Task<GraphAnswer> ExpandDependencyTreeAsync(GraphQuestion question, CallContext context);

    Task<TextsAnswer> FetchNodeTextsAsync(TextsQuestion question, CallContext context);
}

/// <summary>What goes along with one attempt of a call.</summary>
/// <param name="Deadline">When it ends, in UTC.</param>
/// <param name="Token">The bearer token, if any.</param>
public sealed record CallContext(DateTime Deadline, string? Token);

/// <param name="ActiveIndex">The index version to read; empty for the active one.</param>
public sealed record Scope(string Repository, string Branch, string ActiveIndex);

/// <summary>The values of groundwire.v1.SearchType.</summary>
public enum SearchType
{
    Semantic = 1,
    Bm25 = 2,
    Hybrid = 3,
}

public sealed record SearchQuestion(Scope Scope, SearchType SearchType, string Query, int TopK);

public sealed record SearchAnswer(IReadOnlyList<Hit> Hits, string Index);

public sealed record Hit(int Rank, double Score, string Id);

public sealed record GraphQuestion(Scope Scope, IReadOnlyList<string> SeedIds, int MaxDepth, int MaxNodes);

public sealed record GraphAnswer(IReadOnlyList<Node> Nodes, IReadOnlyList<Edge> Edges);

public sealed record Node(string Id, int Depth, string ParentId);

public sealed record Edge(string From, string To, string EdgeType);

public sealed record TextsQuestion(
    Scope Scope, IReadOnlyList<string> SeedIds, IReadOnlyList<Node> Nodes, int BudgetTokens);

public sealed record TextsAnswer(IReadOnlyList<Text> Texts, long UsedTokens);

public sealed record Text(
    string Id, bool IsSeed, int Depth, string Path, int StartLine, int TokenCount, string Content);
