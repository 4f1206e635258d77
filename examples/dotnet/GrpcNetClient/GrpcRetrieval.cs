using System;
using System.Linq;
using System.Threading.Tasks;
using Google.Protobuf.Reflection;
using Google.Rpc;
using Groundwire.Evidence;
using Grpc.Core;
using Grpc.Net.Client;
using V1 = Groundwire.V1;

/// <summary>The three actions over Grpc.Net.Client and the stubs that Grpc.Tools generates.</summary>
internal sealed class GrpcRetrieval : IRetrieval
{
    private static readonly EnumDescriptor Reasons =
        V1.ErrorsReflection.Descriptor.FindTypeByName<EnumDescriptor>(nameof(V1.ErrorReason));

    private readonly V1.RetrievalService.RetrievalServiceClient client;

    private GrpcRetrieval(ChannelBase channel) => client = new V1.RetrievalService.RetrievalServiceClient(channel);

    /// <summary>A client over one channel; a service keeps it for as long as it lives.</summary>
    public static IRetrieval Connect(Options options)
    {
        var channelOptions = new GrpcChannelOptions { HttpHandler = MutualTls.CreateHandler(options) };
        return new GrpcRetrieval(GrpcChannel.ForAddress($"https://{options.Server}", channelOptions));
    }

    public Task<SearchAnswer> SearchNodesAsync(SearchQuestion question, CallContext context) =>
        Guard("SearchNodes", async () =>
        {
            var request = new V1.SearchNodesRequest
            {
                Scope = Message(question.Scope),
                SearchType = (V1.SearchType)question.SearchType,
                Query = question.Query,
                TopK = question.TopK,
            };
            var response = await client.SearchNodesAsync(request, OptionsOf(context));
            var hits = response.Hits.Select(hit => new Hit(hit.Rank, hit.Score, hit.Id)).ToList();
            return new SearchAnswer(hits, response.Index);
        });

    public Task<GraphAnswer> ExpandDependencyTreeAsync(GraphQuestion question, CallContext context) =>
        Guard("ExpandDependencyTree", async () =>
        {
            var request = new V1.ExpandDependencyTreeRequest
            {
                Scope = Message(question.Scope),
                SeedIds = { question.SeedIds },
                MaxDepth = question.MaxDepth,
                MaxNodes = question.MaxNodes,
                EdgeAllowlist = { "*" },
            };
            var response = await client.ExpandDependencyTreeAsync(request, OptionsOf(context));
            var nodes = response.Nodes.Select(node => new Node(node.Id, node.Depth, node.ParentId)).ToList();
            var edges = response.Edges.Select(edge => new Edge(edge.FromId, edge.ToId, edge.EdgeType)).ToList();
            return new GraphAnswer(nodes, edges);
        });

    public Task<TextsAnswer> FetchNodeTextsAsync(TextsQuestion question, CallContext context) =>
        Guard("FetchNodeTexts", async () =>
        {
            var nodes = question.Nodes.Select(
                node => new V1.ReachedNode { Id = node.Id, Depth = node.Depth, ParentId = node.ParentId });
            var request = new V1.FetchNodeTextsRequest
            {
                Scope = Message(question.Scope),
                SeedIds = { question.SeedIds },
                Nodes = { nodes },
                BudgetTokens = question.BudgetTokens,
            };
            var response = await client.FetchNodeTextsAsync(request, OptionsOf(context));
            var texts = response.Texts.Select(text => new Text(
                text.Id, text.IsSeed, text.Depth, text.Location?.Path ?? "", text.Location?.StartLine ?? 0,
                text.TokenCount, text.Text));
            return new TextsAnswer(texts.ToList(), response.UsedTokens);
        });

    private static V1.IndexScope Message(Scope scope) =>
        new() { Repository = scope.Repository, Branch = scope.Branch, ActiveIndex = scope.ActiveIndex };

    private static CallOptions OptionsOf(CallContext context)
    {
        var headers = new Metadata();
        if (context.Token is not null)
        {
            headers.Add("authorization", $"Bearer {context.Token}");
        }
        return new CallOptions(headers, context.Deadline);
    }

    private static async Task<T> Guard<T>(string method, Func<Task<T>> call)
    {
        try
        {
            return await call();
        }
        catch (RpcException exception)
        {
            var details = Details(exception.Trailers.GetValueBytes("grpc-status-details-bin"));
            throw new CallFailure(method, (int)exception.StatusCode, exception.Status.Detail, details);
        }
    }

    private static FailureDetails Details(byte[]? encoded)
    {
        var details = new FailureDetails();
        var reason = V1.ErrorReason.Unspecified;
        foreach (var detail in Google.Rpc.Status.Parser.ParseFrom(encoded ?? Array.Empty<byte>()).Details)
        {
            if (detail.TryUnpack(out ErrorInfo info))
            {
                details.Reason = info.Reason;
                reason = ReasonOf(info);
                foreach (var (key, value) in info.Metadata)
                {
                    details.Metadata[key] = value;
                }
            }
            else if (detail.TryUnpack(out BadRequest badRequest))
            {
                details.Violations.AddRange(badRequest.FieldViolations.Select(
                    broken => new FieldViolation(broken.Field, broken.Description)));
            }
            else if (reason == V1.ErrorReason.Overloaded && detail.TryUnpack(out RetryInfo retry))
            {
                details.RetryAfter = retry.RetryDelay.ToTimeSpan();
            }
        }
        return details;
    }

    /// <summary>The value that an error names; Unspecified for one that only a newer server knows.</summary>
    private static V1.ErrorReason ReasonOf(ErrorInfo info) =>
        (V1.ErrorReason)(Reasons.FindValueByName(info.Reason)?.Number ?? 0);
}
