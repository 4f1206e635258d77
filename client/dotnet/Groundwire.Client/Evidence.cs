using System;
using System.Collections.Generic;
using System.Linq;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>The passages that answer a question, within a budget.</summary>
/// <param name="Texts">The passages, the best first, those of one file together.</param>
/// <param name="Named">The nodes that match or are joined to a passage, and are not shown.</param>
/// <param name="Weak">Why the evidence does probably not answer the question; empty if it does.</param>
/// <param name="Rendered">All of it as text for a prompt; never more tokens than the budget.</param>
/// <param name="UsedTokens">The tokens of <paramref name="Rendered"/>.</param>
/// <param name="Index">
/// The index version that answered. Pin it in the scope of further calls, and they read the same snapshot. Empty for
/// several scopes.
/// </param>
public sealed record Evidence(
    IReadOnlyList<EvidenceText> Texts,
    IReadOnlyList<EvidenceNode> Named,
    string Weak,
    string Rendered,
    int UsedTokens,
    string Index)
{
    /// <summary>For weak evidence, words of the index near the question, to ask again with.</summary>
    public IReadOnlyList<string> NearWords { get; init; } = Array.Empty<string>();

    /// <summary>Of a question to several scopes each of them, with its version; empty for one.</summary>
    public IReadOnlyList<IndexScope> Scopes { get; init; } = Array.Empty<IndexScope>();

    /// <summary>The phrasings that were used, those of the server's phrasing service included.</summary>
    public IReadOnlyList<string> Phrasings { get; init; } = Array.Empty<string>();

    /// <summary>Where each passage stands, in their order.</summary>
    public IReadOnlyList<string> Citations => Texts.Select(text => text.Citation).ToList();

    /// <summary>The ids of the passages: the shown ids of the next question of a conversation.</summary>
    public IReadOnlyList<string> Ids => Texts.Select(text => text.Id).ToList();
}

/// <summary>A node of the evidence, and its place in the source.</summary>
/// <param name="Id">The id of the node, opaque to callers.</param>
/// <param name="Number">Its number in the rendered text; 0 for a node that is only named.</param>
/// <param name="Path">The path within the source, with forward slashes; empty when unknown.</param>
/// <param name="StartLine">The first line, from 1 on; 0 when unknown.</param>
/// <param name="EndLine">The last line, inclusive; 0 when unknown.</param>
/// <param name="Symbol">
/// The qualified name, such as <c>InvoiceService.Create</c>, or the headings above it; empty when it has none.
/// </param>
/// <param name="Kind">The language or corpus, such as <c>cs</c>.</param>
/// <param name="NodeTokenCount">The tokens of its whole text.</param>
/// <param name="Citation">
/// Path and lines, such as <c>src/Tax.cs:3-9</c>; the id in place of a path that is unknown.
/// </param>
/// <param name="Scope">The repository, branch and version that it is in.</param>
public record EvidenceNode(
    string Id, int Number, string Path, int StartLine, int EndLine, string Symbol, string Kind, int NodeTokenCount,
    string Citation, IndexScope Scope)
{
    /// <summary>The address of these lines where people read them; empty when the index makes no links.</summary>
    public string Url { get; init; } = "";
}

/// <summary>Consecutive lines of a node.</summary>
/// <param name="StartLine">The first line, from 1 on; 0 when the lines have no numbers.</param>
/// <param name="Text">The lines.</param>
public sealed record EvidencePart(int StartLine, string Text);

/// <summary>A passage: what is shown of a node.</summary>
/// <param name="Id">The id of the node, opaque to callers.</param>
/// <param name="Number">Its number in the rendered text.</param>
/// <param name="Path">The path within the source, with forward slashes; empty when unknown.</param>
/// <param name="StartLine">The first line, from 1 on; 0 when unknown.</param>
/// <param name="EndLine">The last line, inclusive; 0 when unknown.</param>
/// <param name="Symbol">
/// The qualified name, such as <c>InvoiceService.Create</c>, or the headings above it; empty when it has none.
/// </param>
/// <param name="Kind">The language or corpus, such as <c>cs</c>.</param>
/// <param name="NodeTokenCount">The tokens of its whole text.</param>
/// <param name="Citation">
/// Path and lines, such as <c>src/Tax.cs:3-9</c>; the id in place of a path that is unknown.
/// </param>
/// <param name="Scope">The repository, branch and version that it is in.</param>
/// <param name="Parts">The shown lines.</param>
/// <param name="Form">Whether they are all lines of the node, some of them, or lines of an outline.</param>
/// <param name="TokenCount">The tokens of the passage in the rendered text.</param>
/// <param name="IsMatch">True for a match, false for a node that an edge joins to one.</param>
/// <param name="Score">The score of a match, comparable within one answer only; 0 for another node.</param>
public sealed record EvidenceText(
    string Id, int Number, string Path, int StartLine, int EndLine, string Symbol, string Kind, int NodeTokenCount,
    string Citation, IndexScope Scope, IReadOnlyList<EvidencePart> Parts, PassageForm Form, int TokenCount,
    bool IsMatch, double Score)
    : EvidenceNode(Id, Number, Path, StartLine, EndLine, Symbol, Kind, NodeTokenCount, Citation, Scope)
{
    /// <summary>The shown lines, with a line of <c>…</c> where lines between them are left out.</summary>
    public string Text => string.Join("\n…\n", Parts.Select(part => part.Text));
}
