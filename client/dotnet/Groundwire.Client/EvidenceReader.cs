using System.Collections.Generic;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>Makes records of a response to a query.</summary>
internal sealed class EvidenceReader
{
    private readonly List<EvidenceText> texts = new();
    private readonly List<SkippedText> skipped = new();

    // Several matches may have one parent, which may be a match itself.
    private readonly HashSet<string> seen = new();

    private EvidenceReader()
    {
    }

    public static Evidence Read(QueryResponse response)
    {
        var reader = new EvidenceReader();
        foreach (var match in response.Matches)
        {
            reader.Add(
                match.Id, match.Text, match.Location, match.Symbol, match.TokenCount, match.Score,
                match.TextOmitted ? match.OmitReason : null);
        }
        foreach (var match in response.Matches)
        {
            foreach (var parent in match.Meta?.Parents ?? new())
            {
                reader.Add(
                    parent.Id, parent.Text, parent.Location, parent.Symbol, parent.TokenCount, score: null,
                    parent.TextOmitted ? parent.OmitReason : null);
            }
        }
        return new Evidence(reader.texts, reader.skipped, response.Meta?.UsedTokens ?? 0, response.Index);
    }

    private void Add(
        string id, string text, SourceLocation? location, string symbol, int tokenCount, double? score,
        SkipReason? omitted)
    {
        if (!seen.Add(id))
        {
            return;
        }
        var (path, start, end) = (location?.Path ?? "", location?.StartLine ?? 0, location?.EndLine ?? 0);
        if (omitted is null)
        {
            texts.Add(new EvidenceText(id, text, path, start, end, symbol, tokenCount, score));
        }
        else
        {
            skipped.Add(new SkippedText(id, path, start, end, tokenCount, omitted.Value));
        }
    }
}
