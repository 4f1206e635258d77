using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using Groundwire.V1;

namespace Groundwire.Evidence;

/// <summary>The command line.</summary>
public sealed class Options
{
    public const string Usage = @"usage: dotnet run --project Evidence -- --repository NAME --branch NAME --query TEXT [options]

  --server HOST:PORT    the server (default localhost:50051)
  --ca, --cert, --key   PEM files for mutual TLS, all three; plaintext without them
  --call NAME           actions (search, expand, fetch; the default) or evidence (one call)
  --phrasing TEXT       for evidence: the query in the words of code, such as ""sign cookie secret_key""
  --acl-tags TAGS       what the caller may see besides public nodes, such as billing,legal
  --languages NAMES     texts of these languages alone, such as csharp,sql
  --search-type TYPE    hybrid, semantic or bm25 (default: what the index has data for)
  --top-k N             most hits (default 5)
  --max-depth N         edges from a hit (default 1)
  --max-nodes N         most nodes of the walk (default 50)
  --budget-tokens N     most tokens of text (default 2000)
  --deadline SECONDS    for each call, its retries included (default 10)
  --token-file FILE     bearer token, read anew for each attempt; only over TLS";

    private static readonly HashSet<string> Names = new()
    {
        "server", "ca", "cert", "key", "repository", "branch", "query", "call", "phrasing", "acl-tags", "languages",
        "search-type", "top-k", "max-depth", "max-nodes", "budget-tokens", "deadline", "token-file",
    };

    private readonly Dictionary<string, string> values = new();

    /// <exception cref="UsageException">
    /// An option cannot be used; numbers out of range are the server's to refuse.
    /// </exception>
    public Options(string[] arguments)
    {
        for (var index = 0; index < arguments.Length; index += 2)
        {
            var argument = arguments[index];
            if (!argument.StartsWith("--", StringComparison.Ordinal) || !Names.Contains(argument[2..]))
            {
                throw new UsageException($"{argument}: is no option");
            }
            if (index + 1 == arguments.Length)
            {
                throw new UsageException($"{argument}: needs a value");
            }
            values[argument[2..]] = arguments[index + 1];
        }
        Server = values.GetValueOrDefault("server", "localhost:50051");
        IsSecured = new[] { "ca", "cert", "key", "token-file" }.Any(values.ContainsKey);
        Ca = IsSecured ? Required("ca") : "";
        Cert = IsSecured ? Required("cert") : "";
        Key = IsSecured ? Required("key") : "";
        Repository = Required("repository");
        Branch = Required("branch");
        Query = Required("query");
        TokenFile = values.GetValueOrDefault("token-file");
        Call = values.GetValueOrDefault("call", "actions");
        if (Call is not ("actions" or "evidence"))
        {
            throw new UsageException($"--call: {Call}: must be actions or evidence");
        }
        Phrasings = values.TryGetValue("phrasing", out var phrasing) ? new[] { phrasing } : Array.Empty<string>();
        Access = ReadAccess(values.GetValueOrDefault("acl-tags"));
        Filter = ReadFilter(values.GetValueOrDefault("languages"));
        SearchType = ReadSearchType(values.GetValueOrDefault("search-type"));
        TopK = Number("top-k", 5);
        MaxDepth = Number("max-depth", 1);
        MaxNodes = Number("max-nodes", 50);
        BudgetTokens = Number("budget-tokens", 2000);
        Deadline = ReadDeadline(values.GetValueOrDefault("deadline", "10"));
    }

    public string Server { get; }

    /// <summary>Whether calls go over mutual TLS; without it, the names of the files are empty.</summary>
    public bool IsSecured { get; }

    public string Ca { get; }

    public string Cert { get; }

    public string Key { get; }

    public string? TokenFile { get; }

    public string Repository { get; }

    public string Branch { get; }

    public string Query { get; }

    public string Call { get; }

    public IReadOnlyList<string> Phrasings { get; }

    public AccessContext? Access { get; }

    public NodeFilter? Filter { get; }

    public SearchType SearchType { get; }

    public int TopK { get; }

    public int MaxDepth { get; }

    public int MaxNodes { get; }

    public int BudgetTokens { get; }

    public TimeSpan Deadline { get; }

    private string Required(string name) =>
        values.TryGetValue(name, out var value) ? value : throw new UsageException($"--{name} is required");

    private int Number(string name, int otherwise)
    {
        if (!values.TryGetValue(name, out var text))
        {
            return otherwise;
        }
        return int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new UsageException($"--{name}: {text}: must be a whole number of 32 bits");
    }

    /// <exception cref="UsageException">The file cannot be read.</exception>
    public string ReadToken()
    {
        try
        {
            return File.ReadAllText(TokenFile!).Trim();
        }
        catch (IOException exception)
        {
            throw new UsageException($"--token-file: {exception.Message}");
        }
    }

    private static AccessContext? ReadAccess(string? tags) =>
        tags is null ? null : new AccessContext { AclTagsAny = { tags.Split(',') } };

    private static NodeFilter? ReadFilter(string? languages) =>
        languages is null ? null : new NodeFilter { Languages = { languages.Split(',') } };

    private static SearchType ReadSearchType(string? text) => text switch
    {
        null => SearchType.Unspecified,
        "semantic" => SearchType.Semantic,
        "bm25" => SearchType.Bm25,
        "hybrid" => SearchType.Hybrid,
        _ => throw new UsageException($"--search-type: {text}: must be hybrid, semantic or bm25"),
    };

    private static TimeSpan ReadDeadline(string text) =>
        double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out var seconds)
        && seconds is > 0 and <= 3600
            ? TimeSpan.FromSeconds(seconds)
            : throw new UsageException($"--deadline: {text}: must be a number above 0 and at most 3600");
}

/// <summary>The program was called wrongly.</summary>
public sealed class UsageException : Exception
{
    public UsageException(string message)
        : base(message)
    {
    }
}
