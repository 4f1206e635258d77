using System;
using System.Collections.Generic;
using System.IO;
using System.Text;

/// <summary>Writes one message in the encoding of Protocol Buffers, without default values.</summary>
internal sealed class ProtoWriter
{
    private readonly MemoryStream bytes = new();

    public byte[] ToArray() => bytes.ToArray();

    public ProtoWriter String(int field, string value) =>
        value.Length == 0 ? this : Bytes(field, Encoding.UTF8.GetBytes(value));

    public ProtoWriter Strings(int field, IEnumerable<string> values)
    {
        foreach (var value in values)
        {
            Bytes(field, Encoding.UTF8.GetBytes(value));
        }
        return this;
    }

    public ProtoWriter Message(int field, ProtoWriter message) => Bytes(field, message.ToArray());

    public ProtoWriter Int32(int field, int value) => value == 0 ? this : PresentInt32(field, value);

    /// <summary>A field that tells 0 from absent: `optional`, or of a oneof.</summary>
    public ProtoWriter PresentInt32(int field, int value)
    {
        Varint((uint)field << 3);
        Varint((ulong)(long)value);
        return this;
    }

    private ProtoWriter Bytes(int field, ReadOnlySpan<byte> value)
    {
        Varint((uint)field << 3 | 2);
        Varint((ulong)value.Length);
        bytes.Write(value);
        return this;
    }

    private void Varint(ulong value)
    {
        for (; value >= 0x80; value >>= 7)
        {
            bytes.WriteByte((byte)(value | 0x80));
        }
        bytes.WriteByte((byte)value);
    }
}
