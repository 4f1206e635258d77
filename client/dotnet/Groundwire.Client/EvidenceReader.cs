using System.Linq;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>Makes records of a response to a query.</summary>
internal static class EvidenceReader
{
    private static readonly SourceLocation Unknown = new();

    public static Evidence Read(QueryResponse response) => new(
        response.Matches.Where(match => !match.TextOmitted).Select(ReadText).ToList(),
        response.Matches.Where(match => match.TextOmitted).Select(ReadSkipped).ToList(),
        response.Meta?.UsedTokens ?? 0,
        response.Index);

    private static EvidenceText ReadText(QueryMatch match)
    {
        var place = match.Location ?? Unknown;
        return new EvidenceText(
            match.Id, match.Text, place.Path, place.StartLine, place.EndLine, match.Symbol, match.TokenCount,
            match.Score);
    }

    private static SkippedText ReadSkipped(QueryMatch match)
    {
        var place = match.Location ?? Unknown;
        return new SkippedText(
            match.Id, place.Path, place.StartLine, place.EndLine, match.TokenCount, match.OmitReason);
    }
}
