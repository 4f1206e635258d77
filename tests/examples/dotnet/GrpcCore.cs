// Stands in for the part of the package Grpc.Core.Api that clients use; no registry that the tests install from has it.
// Names and signatures are those of the package.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Grpc.Core
{
    public enum StatusCode
    {
        OK,
        Cancelled,
        Unknown,
        InvalidArgument,
        DeadlineExceeded,
        NotFound,
        AlreadyExists,
        PermissionDenied,
        ResourceExhausted,
        FailedPrecondition,
        Aborted,
        OutOfRange,
        Unimplemented,
        Internal,
        Unavailable,
        DataLoss,
        Unauthenticated,
    }

    public struct Status
    {
        public Status(StatusCode statusCode, string detail)
        {
            StatusCode = statusCode;
            Detail = detail;
        }

        public StatusCode StatusCode { get; }

        public string Detail { get; }
    }

    public sealed class Metadata : IEnumerable<Metadata.Entry>
    {
        private readonly List<Entry> entries = new();

        public void Add(string key, string value) => entries.Add(new Entry(key, value, Array.Empty<byte>()));

        public void Add(string key, byte[] valueBytes) => entries.Add(new Entry(key, "", valueBytes));

        public Entry? Get(string key) => entries.LastOrDefault(entry => entry.Key == key);

        public string? GetValue(string key) => Get(key)?.Value;

        public IEnumerator<Entry> GetEnumerator() => entries.GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        public sealed record Entry(string Key, string Value, byte[] ValueBytes);
    }

    public sealed class RpcException : Exception
    {
        public RpcException(Status status, Metadata trailers)
            : base($"Status(StatusCode=\"{status.StatusCode}\", Detail=\"{status.Detail}\")")
        {
            Status = status;
            Trailers = trailers;
        }

        public Status Status { get; }

        public StatusCode StatusCode => Status.StatusCode;

        public Metadata Trailers { get; }
    }

    public static class MetadataExtensions
    {
        public static Google.Rpc.Status? GetRpcStatus(this Metadata metadata, bool ignoreParseError = false)
        {
            try
            {
                var entry = metadata.Get("grpc-status-details-bin");
                return entry is null ? null : Google.Rpc.Status.Parser.ParseFrom(entry.ValueBytes);
            }
            catch (Google.Protobuf.InvalidProtocolBufferException) when (ignoreParseError)
            {
                return null;
            }
        }
    }

    public struct CallOptions
    {
        public CallOptions(
            Metadata? headers = null, DateTime? deadline = null, CancellationToken cancellationToken = default)
        {
            Headers = headers;
            Deadline = deadline;
            CancellationToken = cancellationToken;
        }

        public Metadata? Headers { get; }

        public DateTime? Deadline { get; }

        public CancellationToken CancellationToken { get; }
    }

    public sealed class AsyncUnaryCall<TResponse> : IDisposable
    {
        public AsyncUnaryCall(Task<TResponse> responseAsync) => ResponseAsync = responseAsync;

        public Task<TResponse> ResponseAsync { get; }

        public TaskAwaiter<TResponse> GetAwaiter() => ResponseAsync.GetAwaiter();

        public ConfiguredTaskAwaitable<TResponse> ConfigureAwait(bool continueOnCapturedContext) =>
            ResponseAsync.ConfigureAwait(continueOnCapturedContext);

        public void Dispose()
        {
        }
    }

    public sealed record Method<TRequest, TResponse>(
        string FullName, Func<TRequest, byte[]> Serializer, Func<byte[], TResponse> Deserializer);

    public abstract class CallInvoker
    {
        public abstract AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
            Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request);
    }

    public abstract class ChannelBase
    {
        public abstract CallInvoker CreateCallInvoker();
    }
}
