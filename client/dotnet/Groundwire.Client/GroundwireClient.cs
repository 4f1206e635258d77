using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Groundwire.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Groundwire.Client;

/// <summary>
/// A client of one Groundwire server. Threads may share it, and it holds nothing that must be disposed.
/// </summary>
/// <remarks>
/// <para>
/// <see cref="EvidenceAsync"/> answers a question with records. The other methods take and give the messages of the
/// protos, whose comments are their reference; they send a request as it is, with its own scope and access.
/// </para>
/// <para>
/// Every call has a deadline, and sends the token. All methods only read, so a call is tried up to four times while the
/// server is unavailable, or says when to come back. It waits as long as the server asks, at least about 0.2 s, 0.4 s
/// and 0.8 s, and never beyond the deadline.
/// </para>
/// <para>
/// Every method throws <see cref="GroundwireException"/> when the call fails,
/// <see cref="OperationCanceledException"/> when the cancellation token ends it, and what the token provider throws.
/// </para>
/// </remarks>
public sealed class GroundwireClient
{
    private const int MaxAttempts = 4;
    private static readonly TimeSpan FirstBackoff = TimeSpan.FromMilliseconds(200);

    private readonly QueryService.QueryServiceClient queries;
    private readonly RetrievalService.RetrievalServiceClient retrieval;
    private readonly IndexService.IndexServiceClient indexes;
    private readonly GroundwireOptions options;
    private readonly ILogger logger;

    /// <summary>
    /// A client over a channel of gRPC. With dependency injection, use
    /// <see cref="GroundwireServiceCollectionExtensions.AddGroundwire"/> instead.
    /// </summary>
    /// <param name="invoker">Makes the calls: <c>channel.CreateCallInvoker()</c>.</param>
    /// <param name="options">The options, validated here.</param>
    /// <param name="logger">Gets a line for each further attempt, and for values that the index does not have.</param>
    /// <exception cref="ArgumentException">The options break a rule.</exception>
    public GroundwireClient(
        CallInvoker invoker, IOptions<GroundwireOptions> options, ILogger<GroundwireClient> logger)
    {
        this.options = options.Value;
        this.options.Validate();
        this.logger = logger;
        queries = new QueryService.QueryServiceClient(invoker);
        retrieval = new RetrievalService.RetrievalServiceClient(invoker);
        indexes = new IndexService.IndexServiceClient(invoker);
    }

    /// <summary>The repository and branch of the options, at the version that is active when it is read.</summary>
    public IndexScope Scope => new() { Repository = options.Repository, Branch = options.Branch };

    /// <summary>The passages that answer a question best, within a budget, as records; one call.</summary>
    /// <remarks>
    /// If nothing matches, kinds and languages of the filter that the index does not have are logged as warnings. For
    /// every other field of the request, call <see cref="GatherEvidenceAsync"/>.
    /// </remarks>
    /// <param name="question">The question, as people ask it or in the words of code.</param>
    /// <param name="filter">Conditions that texts must meet, such as those of <see cref="NodeFilters.From"/>.</param>
    /// <param name="access">What the call may see; null takes the options' access.</param>
    /// <param name="budgetTokens">The most tokens of the evidence; null takes the options' budget.</param>
    /// <param name="phrasings">
    /// The same question in technical terms, and names that the code is likely to use. They find much that the question
    /// alone does not.
    /// </param>
    /// <param name="phrase">
    /// Lets the server's phrasing service write phrasings, if it has one configured.
    /// </param>
    /// <param name="shownIds">The ids of passages that earlier evidence of the conversation has shown.</param>
    /// <param name="scope">The repository, branch and version; null takes the options', at the active version.</param>
    /// <param name="scopes">
    /// In place of <paramref name="scope"/> several of them, which may be patterns such as <c>team-*</c>.
    /// </param>
    /// <param name="timeout">How long each call may take, its retries included; null takes the options' timeout.</param>
    /// <param name="cancellationToken">Ends the call, on the server too.</param>
    /// <returns>The passages; none when nothing matches.</returns>
    /// <exception cref="GroundwireException">A call failed.</exception>
    /// <exception cref="OperationCanceledException">The cancellation token ended the call.</exception>
    public async Task<Evidence> EvidenceAsync(
        string question,
        NodeFilter? filter = null,
        AccessContext? access = null,
        int? budgetTokens = null,
        IEnumerable<string>? phrasings = null,
        bool phrase = false,
        IEnumerable<string>? shownIds = null,
        IndexScope? scope = null,
        IEnumerable<IndexScope>? scopes = null,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        var request = new GatherEvidenceRequest
        {
            Scope = scope ?? (scopes is null ? Scope : null),
            Scopes = { scopes ?? Array.Empty<IndexScope>() },
            Access = access ?? options.Access,
            Question = question,
            Phrasings = { phrasings ?? Array.Empty<string>() },
            Phrase = phrase,
            ShownIds = { shownIds ?? Array.Empty<string>() },
            Filter = filter,
            BudgetTokens = budgetTokens ?? options.BudgetTokens,
        };
        var response = await GatherEvidenceAsync(request, timeout, cancellationToken).ConfigureAwait(false);
        if (response.Passages.Count == 0)
        {
            await WarnOfValuesAsync(request, response.Index, timeout, cancellationToken).ConfigureAwait(false);
        }
        return EvidenceReader.Read(response);
    }

    /// <summary>Answers a question with passages that fit a prompt, with every score and edge.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<GatherEvidenceResponse> GatherEvidenceAsync(
        GatherEvidenceRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("GatherEvidence", queries.GatherEvidenceAsync, request, timeout, cancellationToken);

    /// <summary>Answers a question with the texts that match it best, with every score and parameter.</summary>
    /// <param name="request">The request, sent as it is.</param>
    /// <param name="timeout">How long the call may take, its retries included; null takes the options' timeout.</param>
    /// <param name="cancellationToken">Ends the call, on the server too.</param>
    /// <exception cref="GroundwireException">The call failed.</exception>
    public Task<QueryResponse> QueryAsync(
        QueryRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("Query", queries.QueryAsync, request, timeout, cancellationToken);

    /// <summary>Selects the nodes that match a query best, as ids with scores.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<SearchNodesResponse> SearchNodesAsync(
        SearchNodesRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("SearchNodes", retrieval.SearchNodesAsync, request, timeout, cancellationToken);

    /// <summary>Gives the nodes that names mean: symbols, places such as <c>src/Tax.cs:42</c>, or ids.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<ResolveNodesResponse> ResolveNodesAsync(
        ResolveNodesRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("ResolveNodes", retrieval.ResolveNodesAsync, request, timeout, cancellationToken);

    /// <summary>Finds the lines of files that a text or a regular expression matches.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<SearchTextResponse> SearchTextAsync(
        SearchTextRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("SearchText", retrieval.SearchTextAsync, request, timeout, cancellationToken);

    /// <summary>Walks the dependency graph breadth first from seeds.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<ExpandDependencyTreeResponse> ExpandDependencyTreeAsync(
        ExpandDependencyTreeRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("ExpandDependencyTree", retrieval.ExpandDependencyTreeAsync, request, timeout, cancellationToken);

    /// <summary>Finds the shortest paths from some nodes to others.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<FindPathsResponse> FindPathsAsync(
        FindPathsRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("FindPaths", retrieval.FindPathsAsync, request, timeout, cancellationToken);

    /// <summary>Returns the texts of nodes in priority order, as many as fit into the budget.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<FetchNodeTextsResponse> FetchNodeTextsAsync(
        FetchNodeTextsRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("FetchNodeTexts", retrieval.FetchNodeTextsAsync, request, timeout, cancellationToken);

    /// <summary>Describes an index version, for example to check that there is one that this caller may see.</summary>
    /// <inheritdoc cref="QueryAsync"/>
    public Task<GetIndexResponse> GetIndexAsync(
        GetIndexRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        CallAsync("GetIndex", indexes.GetIndexAsync, request, timeout, cancellationToken);

    /// <summary>Logs the kinds and languages of a filter that the index does not have for the caller.</summary>
    private async Task WarnOfValuesAsync(
        GatherEvidenceRequest asked, string index, TimeSpan? timeout, CancellationToken cancellation)
    {
        if (asked.Scope is null || asked.Filter is null
            || (asked.Filter.Kinds.Count == 0 && asked.Filter.Languages.Count == 0))
        {
            return;
        }
        var request = new GetIndexRequest { Scope = Pinned(asked.Scope, index), Access = asked.Access };
        try
        {
            var known = await GetIndexAsync(request, timeout, cancellation).ConfigureAwait(false);
            Warn("kind", asked.Filter.Kinds, known.Kinds);
            Warn("language", asked.Filter.Languages, known.Languages);
        }
        catch (GroundwireException error)
        {
            logger.LogWarning(error, "The kinds and languages of the index cannot be read");
        }
    }

    private static IndexScope Pinned(IndexScope scope, string index)
    {
        var pinned = scope.Clone();
        pinned.ActiveIndex = index;
        return pinned;
    }

    private void Warn(string what, IEnumerable<string> asked, ICollection<string> known)
    {
        // A server names none if it is an older one, or if there are too many.
        foreach (var name in asked.Except(known).Where(_ => known.Count > 0))
        {
            logger.LogWarning(
                "No active node has the {What} {Name}. There are: {Known}", what, name, string.Join(", ", known));
        }
    }

    private async Task<TResponse> CallAsync<TRequest, TResponse>(
        string method,
        Func<TRequest, CallOptions, AsyncUnaryCall<TResponse>> call,
        TRequest request,
        TimeSpan? timeout,
        CancellationToken cancellation)
    {
        var deadline = DateTime.UtcNow + (timeout ?? options.Timeout);
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                var headers = await HeadersAsync(cancellation).ConfigureAwait(false);
                return await call(request, new CallOptions(headers, deadline, cancellation)).ConfigureAwait(false);
            }
            catch (RpcException error)
            {
                cancellation.ThrowIfCancellationRequested();
                var failure = new GroundwireException(method, error);
                var pause = PauseAfter(attempt, failure.RetryDelay);
                if (!failure.MayBeTriedAgain || attempt == MaxAttempts || DateTime.UtcNow + pause >= deadline)
                {
                    throw failure;
                }
                logger.LogInformation(
                    "{Method}: {StatusCode}, trying again in {Seconds:0.00} s", method, failure.StatusCode,
                    pause.TotalSeconds);
                await Task.Delay(pause, cancellation).ConfigureAwait(false);
            }
        }
    }

    private async ValueTask<Metadata> HeadersAsync(CancellationToken cancellation)
    {
        var headers = new Metadata();
        if (options.TokenProvider is not null)
        {
            headers.Add("authorization", $"Bearer {await options.TokenProvider(cancellation).ConfigureAwait(false)}");
        }
        return headers;
    }

    /// <summary>Doubles with each attempt, with a fifth of jitter so that callers do not come back together.</summary>
    private static TimeSpan PauseAfter(int attempt, TimeSpan? asked)
    {
        var backoff = FirstBackoff * Math.Pow(2, attempt - 1) * (0.8 + (0.4 * Random.Shared.NextDouble()));
        return asked > backoff ? asked.Value : backoff;
    }
}
