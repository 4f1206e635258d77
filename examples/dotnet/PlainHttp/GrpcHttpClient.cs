using System;
using System.Buffers.Binary;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Threading;
using System.Threading.Tasks;
using Groundwire.Evidence;

/// <summary>Unary calls of gRPC over HTTP/2, as doc/PROTOCOL-HTTP2.md of the gRPC project has them.</summary>
internal sealed class GrpcHttpClient
{
    private const int MaxResponseBytes = 4 * 1024 * 1024;
    private const int PrefixBytes = 5;

    private readonly HttpMessageInvoker http;
    private readonly string address;

    public GrpcHttpClient(string server, HttpMessageHandler handler)
    {
        address = $"https://{server}/groundwire.v1.RetrievalService/";
        http = new HttpMessageInvoker(handler);
    }

    /// <exception cref="CallFailure">The call ended with another status than OK.</exception>
    public async Task<ProtoReader> CallAsync(string method, ProtoWriter request, CallContext context)
    {
        var left = context.Deadline - DateTime.UtcNow;
        using var expiry = new CancellationTokenSource(left > TimeSpan.Zero ? left : TimeSpan.Zero);
        try
        {
            using var message = CreateMessage(method, request, context, left);
            using var response = await http.SendAsync(message, expiry.Token);
            var body = await ReadBodyAsync(response, expiry.Token);
            GrpcStatus.Check(method, response);
            return new ProtoReader(Unframe(body));
        }
        catch (OperationCanceledException) when (expiry.IsCancellationRequested)
        {
            throw new CallFailure(method, GrpcStatus.DeadlineExceeded, "the deadline passed", new FailureDetails());
        }
        catch (Exception exception) when (exception is HttpRequestException or IOException)
        {
            throw new CallFailure(method, GrpcStatus.Unavailable, exception.Message, new FailureDetails());
        }
        catch (Exception exception) when (exception is InvalidDataException or FormatException)
        {
            throw new CallFailure(method, GrpcStatus.Internal, exception.Message, new FailureDetails());
        }
    }

    private HttpRequestMessage CreateMessage(string method, ProtoWriter request, CallContext context, TimeSpan left)
    {
        var message = new HttpRequestMessage(HttpMethod.Post, address + method)
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = new ByteArrayContent(Frame(request.ToArray())),
        };
        message.Content.Headers.ContentType = new MediaTypeHeaderValue("application/grpc");
        message.Headers.TE.ParseAdd("trailers");
        message.Headers.Add("grpc-timeout", $"{(long)Math.Max(1, left.TotalMilliseconds)}m");
        if (context.Token is not null)
        {
            message.Headers.Authorization = new AuthenticationHeaderValue("Bearer", context.Token);
        }
        return message;
    }

    private static async Task<byte[]> ReadBodyAsync(HttpResponseMessage response, CancellationToken cancellation)
    {
        await using var stream = await response.Content.ReadAsStreamAsync(cancellation);
        using var body = new MemoryStream();
        var buffer = new byte[64 * 1024];
        for (int read; (read = await stream.ReadAsync(buffer, cancellation)) > 0;)
        {
            body.Write(buffer, 0, read);
            if (body.Length > MaxResponseBytes + PrefixBytes)
            {
                throw new InvalidDataException($"the response has more than {MaxResponseBytes} bytes");
            }
        }
        return body.ToArray();
    }

    /// <summary>The message behind a flag (0: not compressed) and its length.</summary>
    private static byte[] Frame(byte[] message)
    {
        var frame = new byte[PrefixBytes + message.Length];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), message.Length);
        message.CopyTo(frame, PrefixBytes);
        return frame;
    }

    private static ReadOnlyMemory<byte> Unframe(byte[] frame)
    {
        if (frame.Length < PrefixBytes
            || frame[0] != 0
            || BinaryPrimitives.ReadInt32BigEndian(frame.AsSpan(1)) != frame.Length - PrefixBytes)
        {
            throw new InvalidDataException("the response is not one uncompressed message");
        }
        return frame.AsMemory(PrefixBytes);
    }
}
