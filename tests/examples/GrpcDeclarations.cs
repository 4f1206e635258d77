// What examples/dotnet/GrpcNetClient uses of Grpc.Net.Client 2.67, Grpc.Core.Api 2.67 and Google.Protobuf 3.29, as
// declared there, without bodies. No registry that the tests install from carries these packages.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Net.Http;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Google.Protobuf
{
    public interface IMessage
    {
    }

    public interface IMessage<T> : IMessage
        where T : IMessage<T>
    {
    }

    public sealed class ByteString
    {
    }

    public sealed class MessageParser<T>
        where T : IMessage<T>
    {
        public T ParseFrom(byte[] data) => throw null!;
    }
}

namespace Google.Protobuf.Reflection
{
    public interface IDescriptor
    {
    }

    public sealed class FileDescriptor
    {
        public T FindTypeByName<T>(string name)
            where T : class, IDescriptor => throw null!;
    }

    public sealed class EnumDescriptor : IDescriptor
    {
        public EnumValueDescriptor FindValueByName(string name) => throw null!;
    }

    public sealed class EnumValueDescriptor : IDescriptor
    {
        public int Number => throw null!;
    }
}

namespace Google.Protobuf.Collections
{
    public sealed class RepeatedField<T> : IList<T>
    {
        public int Count => throw null!;

        public bool IsReadOnly => throw null!;

        public T this[int index]
        {
            get => throw null!;
            set => throw null!;
        }

        public void Add(T item) => throw null!;

        public void Add(IEnumerable<T> values) => throw null!;

        public void Clear() => throw null!;

        public bool Contains(T item) => throw null!;

        public void CopyTo(T[] array, int arrayIndex) => throw null!;

        public IEnumerator<T> GetEnumerator() => throw null!;

        public int IndexOf(T item) => throw null!;

        public void Insert(int index, T item) => throw null!;

        public bool Remove(T item) => throw null!;

        public void RemoveAt(int index) => throw null!;

        IEnumerator IEnumerable.GetEnumerator() => throw null!;
    }

    public sealed class MapField<TKey, TValue> : IEnumerable<KeyValuePair<TKey, TValue>>
    {
        public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator() => throw null!;

        IEnumerator IEnumerable.GetEnumerator() => throw null!;
    }
}

namespace Google.Protobuf.WellKnownTypes
{
    public sealed class Any : IMessage<Any>
    {
        public bool TryUnpack<T>(out T result)
            where T : IMessage, new() => throw null!;
    }

    public sealed class Duration : IMessage<Duration>
    {
        public TimeSpan ToTimeSpan() => throw null!;
    }

    public sealed class Struct : IMessage<Struct>
    {
    }
}

namespace Grpc.Core
{
    public enum StatusCode
    {
        OK,
    }

    public readonly struct Status
    {
        public string Detail => throw null!;

        public StatusCode StatusCode => throw null!;
    }

    public sealed class Metadata
    {
        public void Add(string key, string value) => throw null!;

        public byte[]? GetValueBytes(string key) => throw null!;
    }

    public sealed class RpcException : Exception
    {
        public Status Status => throw null!;

        public StatusCode StatusCode => throw null!;

        public Metadata Trailers => throw null!;
    }

    public readonly struct CallOptions
    {
        public CallOptions(
            Metadata? headers = null, DateTime? deadline = null, CancellationToken cancellationToken = default)
        {
        }
    }

    public sealed class AsyncUnaryCall<TResponse> : IDisposable
    {
        public TaskAwaiter<TResponse> GetAwaiter() => throw null!;

        public void Dispose() => throw null!;
    }

    public abstract class ChannelBase
    {
    }
}

namespace Grpc.Net.Client
{
    using Grpc.Core;

    public sealed class GrpcChannelOptions
    {
        public HttpMessageHandler? HttpHandler { get; set; }
    }

    public sealed class GrpcChannel : ChannelBase, IDisposable
    {
        public static GrpcChannel ForAddress(string address, GrpcChannelOptions channelOptions) => throw null!;

        public void Dispose() => throw null!;
    }
}
