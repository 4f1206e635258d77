using System;
using System.Buffers.Binary;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;

/// <summary>One message in the encoding of Protocol Buffers; absent fields have their defaults.</summary>
internal sealed class ProtoReader
{
    private readonly Dictionary<int, List<(ulong Number, ReadOnlyMemory<byte> Bytes)>> fields = new();

    /// <exception cref="InvalidDataException">The bytes are no message.</exception>
    public ProtoReader(ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            var tag = TakeVarint(ref bytes);
            var (number, content) = (tag & 7) switch
            {
                0 => (TakeVarint(ref bytes), default),
                1 => (BinaryPrimitives.ReadUInt64LittleEndian(Take(ref bytes, 8).Span), default),
                2 => (0UL, Take(ref bytes, TakeVarint(ref bytes))),
                5 => (BinaryPrimitives.ReadUInt32LittleEndian(Take(ref bytes, 4).Span), default),
                _ => throw new InvalidDataException($"no message: wire type {tag & 7}"),
            };
            var field = (int)(tag >> 3);
            if (!fields.TryGetValue(field, out var values))
            {
                fields[field] = values = new();
            }
            values.Add((number, content));
        }
    }

    public string String(int field) => Encoding.UTF8.GetString(Last(field).Bytes.Span);

    public int Int32(int field) => (int)Last(field).Number;

    public long Int64(int field) => (long)Last(field).Number;

    public bool Bool(int field) => Last(field).Number != 0;

    public double Double(int field) => BitConverter.UInt64BitsToDouble(Last(field).Number);

    public ReadOnlyMemory<byte> Bytes(int field) => Last(field).Bytes;

    public ProtoReader Message(int field) => new(Last(field).Bytes);

    public IEnumerable<ProtoReader> Messages(int field) =>
        fields.TryGetValue(field, out var values)
            ? values.Select(value => new ProtoReader(value.Bytes))
            : Enumerable.Empty<ProtoReader>();

    private (ulong Number, ReadOnlyMemory<byte> Bytes) Last(int field) =>
        fields.TryGetValue(field, out var values) ? values[^1] : default;

    private static ulong TakeVarint(ref ReadOnlyMemory<byte> bytes)
    {
        var value = 0UL;
        for (var shift = 0; shift < 64; shift += 7)
        {
            var next = Take(ref bytes, 1).Span[0];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return value;
            }
        }
        throw new InvalidDataException("no message: a number of more than 64 bits");
    }

    private static ReadOnlyMemory<byte> Take(ref ReadOnlyMemory<byte> bytes, ulong count)
    {
        if (count > (ulong)bytes.Length)
        {
            throw new InvalidDataException($"no message: {count} bytes wanted, {bytes.Length} left");
        }
        var taken = bytes[..(int)count];
        bytes = bytes[(int)count..];
        return taken;
    }
}
