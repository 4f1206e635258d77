"""Declarations of what protoc and its gRPC plugin generate in C#, without bodies, from the descriptors of protos.

Names follow protoc: fields and enum values in PascalCase, the latter without their enum's name, nested types in
`Types`.
"""

from collections.abc import Iterable, Iterator

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor, ServiceDescriptor

_SCALARS = {
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_BYTES: "Google.Protobuf.ByteString",
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_INT32: "int",
    FieldDescriptor.TYPE_INT64: "long",
    FieldDescriptor.TYPE_STRING: "string",
}


def declarations(files: Iterable[FileDescriptor]) -> str:
    """One C# source for the messages, enums and service clients of these files."""
    return "\n".join(line for file in files for line in _file(file))


def _file(file: FileDescriptor) -> Iterator[str]:
    yield f"namespace {_namespace(file)}\n{{"
    yield f"public static class {_pascal(file.name.rsplit('/')[-1].removesuffix('.proto'))}Reflection\n{{"
    yield "public static Google.Protobuf.Reflection.FileDescriptor Descriptor => throw null!;\n}"
    for enum in file.enum_types_by_name.values():
        yield from _enum(enum)
    for message in file.message_types_by_name.values():
        yield from _message(message)
    for service in file.services_by_name.values():
        yield from _service(service)
    yield "}"


def _message(message: Descriptor) -> Iterator[str]:
    name = message.name
    yield f"public sealed class {name} : Google.Protobuf.IMessage<{name}>\n{{"
    yield f"public static Google.Protobuf.MessageParser<{name}> Parser => throw null!;"
    for field in message.fields:
        access = "get => throw null!;" if field.is_repeated else "get => throw null!; set => throw null!;"
        yield f"public {_field_type(field)} {_pascal(field.name)} {{ {access} }}"
    nested = [part for part in message.nested_types if not part.GetOptions().map_entry]
    if nested or message.enum_types:
        yield "public static class Types\n{"
        for enum in message.enum_types:
            yield from _enum(enum)
        for part in nested:
            yield from _message(part)
        yield "}"
    yield "}"


def _enum(enum: EnumDescriptor) -> Iterator[str]:
    prefix = "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in enum.name).lstrip("_") + "_"
    values = (f"{_pascal(value.name.removeprefix(prefix).lower())} = {value.number}" for value in enum.values)
    yield f"public enum {enum.name} {{ {', '.join(values)} }}"


def _service(service: ServiceDescriptor) -> Iterator[str]:
    yield f"public static class {service.name}\n{{\npublic sealed class {service.name}Client\n{{"
    yield f"public {service.name}Client(Grpc.Core.ChannelBase channel) {{ }}"
    for method in service.methods:
        answer = f"Grpc.Core.AsyncUnaryCall<{_type_name(method.output_type)}>"
        request = f"{_type_name(method.input_type)} request"
        yield f"public {answer} {method.name}Async({request}, Grpc.Core.CallOptions options) => throw null!;"
    yield "}\n}"


def _field_type(field: FieldDescriptor) -> str:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = (_single_type(field.message_type.fields_by_name[name]) for name in ("key", "value"))
        return f"Google.Protobuf.Collections.MapField<{key}, {value}>"
    single = _single_type(field)
    return f"Google.Protobuf.Collections.RepeatedField<{single}>" if field.is_repeated else single


def _single_type(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        return _type_name(field.message_type)
    if field.enum_type is not None:
        return _type_name(field.enum_type)
    return _SCALARS[field.type]


def _type_name(described: Descriptor | EnumDescriptor) -> str:
    parent = described.containing_type
    if parent is not None:
        return f"{_type_name(parent)}.Types.{described.name}"
    return f"global::{_namespace(described.file)}.{described.name}"


def _namespace(file: FileDescriptor) -> str:
    return file.GetOptions().csharp_namespace or ".".join(part.capitalize() for part in file.package.split("."))


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
