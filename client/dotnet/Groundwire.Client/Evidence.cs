using System;
using System.Collections.Generic;
using System.Linq;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>The texts that answer a question, within a budget.</summary>
/// <param name="Texts">The texts that fit, best first.</param>
/// <param name="Skipped">
/// What was found, but did not fit; <see cref="GroundwireClient.FetchNodeTextsAsync"/> gets it.
/// </param>
/// <param name="UsedTokens">The sum of the texts' lengths in tokens.</param>
/// <param name="Index">
/// The index version that answered. Pin it in the scope of further calls, and they read the same snapshot.
/// </param>
public sealed record Evidence(
    IReadOnlyList<EvidenceText> Texts, IReadOnlyList<SkippedText> Skipped, long UsedTokens, string Index)
{
    /// <summary>Of a question to several scopes each of them, with its version; empty for one.</summary>
    public IReadOnlyList<IndexScope> Scopes { get; init; } = Array.Empty<IndexScope>();

    /// <summary>Where each text stands, in their order.</summary>
    public IReadOnlyList<string> Citations => Texts.Select(text => text.Citation).ToList();
}

/// <summary>One text, exactly as it was indexed.</summary>
/// <param name="Id">The id of its node, opaque to callers.</param>
/// <param name="Rank">1 for the best match.</param>
/// <param name="Text">The text.</param>
/// <param name="Path">The path within the source, with forward slashes; empty when unknown.</param>
/// <param name="StartLine">The first line, from 1 on; 0 when unknown.</param>
/// <param name="EndLine">The last line, inclusive; 0 when unknown.</param>
/// <param name="Symbol">
/// The qualified name, such as <c>InvoiceService.Create</c>, or the headings above it; empty when it has none.
/// </param>
/// <param name="TokenCount">The length in tokens.</param>
/// <param name="Score">Higher is better, comparable within one answer only.</param>
/// <param name="Citation">
/// Path and lines, such as <c>src/Tax.cs:3-9</c>; the id in place of a path that is unknown.
/// </param>
public sealed record EvidenceText(
    string Id, int Rank, string Text, string Path, int StartLine, int EndLine, string Symbol, int TokenCount,
    double Score, string Citation)
{
    /// <summary>Of several scopes the one that it is in, with its version; null where one was asked.</summary>
    public IndexScope? Scope { get; init; }
}

/// <summary>A node that was found, whose text does not fit into what is left of the budget.</summary>
/// <param name="Id">The id of the node.</param>
/// <param name="Rank">1 for the best match.</param>
/// <param name="Path">The path within the source, with forward slashes; empty when unknown.</param>
/// <param name="StartLine">The first line, from 1 on; 0 when unknown.</param>
/// <param name="EndLine">The last line, inclusive; 0 when unknown.</param>
/// <param name="Symbol">The qualified name, or the headings above it; empty when it has none.</param>
/// <param name="TokenCount">The length of the text in tokens.</param>
/// <param name="Reason">Why, as the server says it.</param>
/// <param name="Citation">
/// Path and lines, such as <c>src/Tax.cs:3-9</c>; the id in place of a path that is unknown.
/// </param>
public sealed record SkippedText(
    string Id, int Rank, string Path, int StartLine, int EndLine, string Symbol, int TokenCount, SkipReason Reason,
    string Citation)
{
    /// <summary>Of several scopes the one that it is in, with its version; null where one was asked.</summary>
    public IndexScope? Scope { get; init; }
}
