using System;
using System.Collections.Generic;
using System.Linq;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>Reads the evidence of a response.</summary>
internal static class EvidenceReader
{
    /// <summary>The records of a response.</summary>
    public static Evidence Read(GatherEvidenceResponse response) =>
        new(
            response.Passages.Select(ReadText).ToList(),
            response.Named.Select(ReadNode).ToList(),
            response.Weak?.Reason ?? "",
            response.Rendered,
            response.UsedTokens,
            response.Index)
        {
            NearWords = response.Weak?.NearWords.ToList() ?? (IReadOnlyList<string>)Array.Empty<string>(),
            Scopes = response.Scopes,
            Phrasings = response.Phrasings,
        };

    private static EvidenceText ReadText(Passage passage)
    {
        var place = passage.Location ?? new SourceLocation();
        return new EvidenceText(
            passage.Id, passage.Number, place.Path, place.StartLine, place.EndLine, passage.Symbol, passage.Kind,
            passage.NodeTokenCount, passage.Citation, passage.Scope,
            passage.Parts.Select(part => new EvidencePart(part.StartLine, part.Text)).ToList(), passage.Form,
            passage.TokenCount, passage.Match is not null, passage.Match?.Score ?? 0)
        {
            Url = place.Url,
        };
    }

    private static EvidenceNode ReadNode(NamedNode node)
    {
        var place = node.Location ?? new SourceLocation();
        return new EvidenceNode(
            node.Id, node.Number, place.Path, place.StartLine, place.EndLine, node.Symbol, node.Kind,
            node.NodeTokenCount, node.Citation, node.Scope)
        {
            Url = place.Url,
        };
    }
}
