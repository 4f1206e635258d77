using System.Collections.Generic;
using System.Linq;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>Makes records of a response to a query, and of the texts that it had no room for.</summary>
internal static class EvidenceReader
{
    private static readonly SourceLocation Unknown = new();

    /// <summary>The matches whose texts fit the budget but not the response, without those fetched since.</summary>
    public static List<QueryMatch> TextsLeft(QueryResponse answer, IReadOnlyDictionary<string, string> fetched) =>
        answer.Matches
            .Where(match => match.OmitReason == SkipReason.ResponseLimit && !fetched.ContainsKey(match.Id))
            .ToList();

    public static Evidence Read(QueryResponse answer, IReadOnlyDictionary<string, string> fetched)
    {
        var texts = answer.Matches
            .Where(match => !match.TextOmitted || fetched.ContainsKey(match.Id))
            .Select(match => ReadText(match, match.TextOmitted ? fetched[match.Id] : match.Text))
            .ToList();
        var skipped = answer.Matches
            .Where(match => match.TextOmitted && !fetched.ContainsKey(match.Id))
            .Select(ReadSkipped)
            .ToList();
        var used = texts.Sum(text => (long)text.TokenCount);
        return new Evidence(texts, skipped, used, answer.Index) { Scopes = answer.Scopes };
    }

    private static EvidenceText ReadText(QueryMatch match, string text)
    {
        var place = match.Location ?? Unknown;
        return new EvidenceText(
            match.Id, match.Rank, text, place.Path, place.StartLine, place.EndLine, Name(match), match.TokenCount,
            match.Score, match.Citation) { Scope = match.Scope };
    }

    private static SkippedText ReadSkipped(QueryMatch match)
    {
        var place = match.Location ?? Unknown;
        return new SkippedText(
            match.Id, match.Rank, place.Path, place.StartLine, place.EndLine, Name(match), match.TokenCount,
            match.OmitReason, match.Citation) { Scope = match.Scope };
    }

    private static string Name(QueryMatch match) => match.Symbol.Length > 0 ? match.Symbol : match.SectionPath;
}
