using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Numerics;
using System.Text.Json;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;
using Groundwire.V1;

namespace Groundwire.Client;

/// <summary>Makes filters of loose values, as models, command lines and configuration give them.</summary>
public static class NodeFilters
{
    private const long LargestExact = 1L << 53;
    private const string Metadata = "metadata";
    private const int ShortestAbbreviation = 3;

    private static readonly IList<FieldDescriptor> Fields = NodeFilter.Descriptor.Fields.InDeclarationOrder();

    private static readonly IReadOnlyDictionary<string, FieldDescriptor> Texts = Fields
        .Where(field => field.IsRepeated)
        .SelectMany(field => new[] { (field.Name, field), (Singular(field.Name), field) })
        .ToDictionary(pair => pair.Item1, pair => pair.field);

    private static readonly IReadOnlyDictionary<string, FieldDescriptor> Flags =
        Fields.Where(field => field.FieldType == FieldType.Bool).ToDictionary(field => field.Name);

    /// <summary>
    /// The filter that loose values mean. Names are those of the fields of <see cref="NodeFilter"/> in the protos,
    /// singular or plural, such as <c>collection_id</c> or <c>collection_ids</c>, or both; their values are a string
    /// or a list of strings. Flags such as <c>is_test</c> are booleans, and <c>metadata</c> is a dictionary. Any other
    /// name is one of the metadata, unless it resembles a field's, as <c>langauge</c> and <c>lang</c> do. Nulls and
    /// empty lists are as if absent. A <see cref="JsonElement"/> is what it holds.
    /// </summary>
    /// <param name="raw">What was asked for.</param>
    /// <param name="context">
    /// What the caller knows for sure, by the same names; it wins over <paramref name="raw"/>, field by field and
    /// metadata key by key.
    /// </param>
    /// <exception cref="ArgumentException">
    /// A value is of a wrong type, a string is empty, a key of the metadata is given twice, a name resembles a field's,
    /// or a number does not fit the wire.
    /// </exception>
    public static NodeFilter From(
        IEnumerable<KeyValuePair<string, object?>> raw, IEnumerable<KeyValuePair<string, object?>>? context = null)
    {
        var (asked, known) = (new Reading(raw), new Reading(context ?? Array.Empty<KeyValuePair<string, object?>>()));
        var filter = new NodeFilter();
        foreach (var (field, value) in Merged(asked.Flags, known.Flags))
        {
            field.Accessor.SetValue(filter, value);
        }
        foreach (var (field, values) in Merged(asked.Texts, known.Texts))
        {
            var list = (IList)field.Accessor.GetValue(filter);
            foreach (var value in values)
            {
                list.Add(value);
            }
        }
        foreach (var (key, value) in Merged(asked.Metadata, known.Metadata))
        {
            filter.Metadata ??= new Struct();
            filter.Metadata.Fields[key] = value;
        }
        return filter;
    }

    private static string Singular(string name) => name == "path_prefixes" ? "path_prefix" : name[..^1];

    private static Dictionary<TKey, TValue> Merged<TKey, TValue>(
        Dictionary<TKey, TValue> asked, Dictionary<TKey, TValue> known)
        where TKey : notnull
    {
        var merged = new Dictionary<TKey, TValue>(asked);
        foreach (var (key, value) in known)
        {
            merged[key] = value;
        }
        return merged;
    }

    /// <summary>Loose values, sorted into what a filter has.</summary>
    private sealed class Reading
    {
        public Reading(IEnumerable<KeyValuePair<string, object?>> given)
        {
            var values = given
                .Select(pair => (Name: pair.Key, Value: Plain(pair.Value)))
                .Where(pair => pair.Value is not null)
                .ToList();
            foreach (var (_, value) in values.Where(pair => pair.Name == NodeFilters.Metadata))
            {
                foreach (var (key, entry) in Entries(value))
                {
                    Metadata[key] = MetadataValue(key, entry);
                }
            }
            foreach (var (name, value) in values.Where(pair => pair.Name != NodeFilters.Metadata))
            {
                Take(name, value!);
            }
        }

        public Dictionary<FieldDescriptor, IReadOnlyList<string>> Texts { get; } = new();

        public Dictionary<FieldDescriptor, bool> Flags { get; } = new();

        public Dictionary<string, Value> Metadata { get; } = new();

        private void Take(string name, object value)
        {
            if (NodeFilters.Texts.TryGetValue(name, out var field))
            {
                var texts = Strings(name, value);
                if (texts.Count > 0)
                {
                    // Singular and plural together: the values of both are alternatives.
                    Texts[field] = Texts.TryGetValue(field, out var before) ? before.Union(texts).ToList() : texts;
                }
            }
            else if (NodeFilters.Flags.TryGetValue(name, out var flag))
            {
                Flags[flag] = value is bool set
                    ? set
                    : throw new ArgumentException($"{name}: {Shown(value)} must be true, false or null");
            }
            else if (!Metadata.TryAdd(name, MetadataValue(name, value)))
            {
                throw new ArgumentException($"{name}: comes besides another value of metadata['{name}']: name it once");
            }
            else if (Near(name) is { } near)
            {
                throw new ArgumentException(
                    $"{name}: is no field of a filter; did you mean {near}? If it is a name of the metadata, give it "
                    + $"in {NodeFilters.Metadata}");
            }
        }
    }

    /// <summary>The field that a name abbreviates, writes in another way, or misspells.</summary>
    private static string? Near(string name)
    {
        var shortened = Folded(name).TrimEnd('s');
        return Texts.Keys.Concat(Flags.Keys).Append(Metadata).FirstOrDefault(field =>
            (shortened.Length >= ShortestAbbreviation && Folded(field).StartsWith(shortened, StringComparison.Ordinal))
            || Edits(name, field) * 4 <= name.Length);
    }

    private static string Folded(string name) => name.Replace("_", "").Replace("-", "").ToLowerInvariant();

    /// <summary>Levenshtein's distance.</summary>
    private static int Edits(string one, string other)
    {
        var above = Enumerable.Range(0, other.Length + 1).ToArray();
        foreach (var letter in one)
        {
            var row = new int[above.Length];
            row[0] = above[0] + 1;
            for (var at = 1; at < row.Length; at++)
            {
                var replaced = above[at - 1] + (letter == other[at - 1] ? 0 : 1);
                row[at] = Math.Min(replaced, Math.Min(above[at], row[at - 1]) + 1);
            }
            above = row;
        }
        return above[^1];
    }

    private static IReadOnlyList<string> Strings(string name, object value)
    {
        var texts = (value as IList)?.Cast<object?>().Select(Plain).ToList() ?? new List<object?> { value };
        if (!texts.All(text => text is string))
        {
            throw new ArgumentException($"{name}: {Shown(value)} must be a string or a list of strings");
        }
        if (texts.Contains(""))
        {
            throw new ArgumentException(
                $"{name}: {Shown(value)} must hold no empty string: leave the name out to allow every value");
        }
        return texts.Cast<string>().ToList();
    }

    private static IEnumerable<KeyValuePair<string, object?>> Entries(object? value) => value switch
    {
        IDictionary entries => entries.Keys.Cast<object>().Select(key => KeyValuePair.Create(
            key as string ?? throw new ArgumentException($"{Metadata}: the key {Shown(key)} must be a string"),
            Plain(entries[key]))),
        _ => throw new ArgumentException($"{Metadata}: {Shown(value)} must be a dictionary"),
    };

    private static Value MetadataValue(string key, object? value) => value is IList alternatives
        ? Value.ForList(alternatives.Cast<object?>().Select(each => MetadataScalar(key, Plain(each))).ToArray())
        : MetadataScalar(key, value);

    private static Value MetadataScalar(string key, object? value) => value switch
    {
        null => Value.ForNull(),
        string text => Value.ForString(text),
        bool set => Value.ForBool(set),
        sbyte or byte or short or ushort or int or uint or long or ulong or BigInteger =>
            Value.ForNumber(Exact(key, value)),
        float or double or decimal => Value.ForNumber(Convert.ToDouble(value, CultureInfo.InvariantCulture)),
        _ => throw new ArgumentException(
            $"{Metadata}['{key}']: {Shown(value)} must be a string, a number, a boolean, null or a list of these"),
    };

    private static double Exact(string key, object whole)
    {
        var number = BigInteger.Parse(whole.ToString()!, CultureInfo.InvariantCulture);
        return BigInteger.Abs(number) <= LargestExact
            ? (double)number
            : throw new ArgumentException(
                $"{Metadata}['{key}']: {whole} is beyond 2**53 and would lose digits: use a string");
    }

    private static object? Plain(object? value) => value is not JsonElement json ? value : json.ValueKind switch
    {
        JsonValueKind.String => json.GetString(),
        JsonValueKind.True => true,
        JsonValueKind.False => false,
        JsonValueKind.Number => Number(json),
        JsonValueKind.Array => json.EnumerateArray().Select(each => Plain(each)).ToList(),
        JsonValueKind.Object => json.EnumerateObject().ToDictionary(each => each.Name, each => Plain(each.Value)),
        _ => null,
    };

    private static object Number(JsonElement json)
    {
        var isWhole = json.GetRawText().All(letter => char.IsAsciiDigit(letter) || letter == '-');
        return isWhole ? BigInteger.Parse(json.GetRawText(), CultureInfo.InvariantCulture) : json.GetDouble();
    }

    private static string Shown(object? value) => JsonSerializer.Serialize(value);
}
