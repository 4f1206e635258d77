using System.Linq;
using System.Threading.Tasks;
using Groundwire.Evidence;

/// <summary>The three actions with messages by hand: numbers are those of the fields in retrieval.proto.</summary>
internal sealed class HttpRetrieval : IRetrieval
{
    private readonly GrpcHttpClient client;

    private HttpRetrieval(GrpcHttpClient client) => this.client = client;

    /// <summary>A client over one pool of connections; a service keeps it for as long as it lives.</summary>
    public static IRetrieval Connect(Options options) =>
        new HttpRetrieval(new GrpcHttpClient(options.Server, MutualTls.CreateHandler(options)));

    public async Task<SearchAnswer> SearchNodesAsync(SearchQuestion question, CallContext context)
    {
        var request = new ProtoWriter()
            .Message(1, Message(question.Scope))
            .Int32(4, (int)question.SearchType)
            .String(5, question.Query)
            .Int32(7, question.TopK);
        var response = await client.CallAsync("SearchNodes", request, context);
        var hits = response.Messages(1).Select(hit => new Hit(hit.Int32(3), hit.Double(2), hit.String(1)));
        return new SearchAnswer(hits.ToList(), response.String(2));
    }

    public async Task<GraphAnswer> ExpandDependencyTreeAsync(GraphQuestion question, CallContext context)
    {
        var request = new ProtoWriter()
            .Message(1, Message(question.Scope))
            .Strings(3, question.SeedIds)
            .PresentInt32(4, question.MaxDepth)
            .Int32(5, question.MaxNodes)
            .Strings(6, new[] { "*" });
        var response = await client.CallAsync("ExpandDependencyTree", request, context);
        var nodes = response.Messages(2).Select(node => new Node(node.String(1), node.Int32(2), node.String(3)));
        var edges = response.Messages(3).Select(edge => new Edge(edge.String(1), edge.String(2), edge.String(3)));
        return new GraphAnswer(nodes.ToList(), edges.ToList());
    }

    public async Task<TextsAnswer> FetchNodeTextsAsync(TextsQuestion question, CallContext context)
    {
        var request = new ProtoWriter().Message(1, Message(question.Scope)).Strings(3, question.SeedIds);
        foreach (var node in question.Nodes)
        {
            request.Message(4, new ProtoWriter().String(1, node.Id).Int32(2, node.Depth).String(3, node.ParentId));
        }
        request.PresentInt32(5, question.BudgetTokens);
        var response = await client.CallAsync("FetchNodeTexts", request, context);
        return new TextsAnswer(response.Messages(1).Select(ReadText).ToList(), response.Int64(3));
    }

    private static ProtoWriter Message(Scope scope) =>
        new ProtoWriter().String(1, scope.Repository).String(2, scope.Branch).String(3, scope.ActiveIndex);

    private static Text ReadText(ProtoReader text)
    {
        var location = text.Message(7);
        return new Text(
            text.String(1), text.Bool(3), text.Int32(4), location.String(1), location.Int32(2), text.Int32(6),
            text.String(2));
    }
}
