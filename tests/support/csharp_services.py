"""What the gRPC plugin of protoc generates in C# for clients of services: no package that the tests install has it."""

from collections.abc import Iterable, Iterator

from google.protobuf.descriptor import Descriptor, FileDescriptor, MethodDescriptor, ServiceDescriptor


def service_clients(files: Iterable[FileDescriptor]) -> str:
    """One C# source with the clients of all services in these files."""
    return "#pragma warning disable 1591\n" + "\n".join(line for file in files for line in _file(file))


def _file(file: FileDescriptor) -> Iterator[str]:
    yield f"namespace {file.GetOptions().csharp_namespace}\n{{\nusing Google.Protobuf;\nusing Grpc.Core;"
    for service in file.services_by_name.values():
        yield from _service(service)
    yield "}"


def _service(service: ServiceDescriptor) -> Iterator[str]:
    client = f"{service.name}Client"
    yield f"public static class {service.name}\n{{\npublic class {client}\n{{"
    yield "private readonly CallInvoker invoker;"
    yield f"public {client}(CallInvoker callInvoker) => invoker = callInvoker;"
    yield f"public {client}(ChannelBase channel) : this(channel.CreateCallInvoker()) {{ }}"
    for method in service.methods:
        yield from _method(method)
    yield "}\n}"


def _method(method: MethodDescriptor) -> Iterator[str]:
    request, response = (f"global::{_type_name(kind)}" for kind in (method.input_type, method.output_type))
    path = f"/{method.containing_service.full_name}/{method.name}"
    yield f"private static readonly Method<{request}, {response}> __Method_{method.name} = new("
    yield f'"{path}", message => message.ToByteArray(), {response}.Parser.ParseFrom);'
    yield f"public virtual AsyncUnaryCall<{response}> {method.name}Async({request} request, CallOptions options) =>"
    yield f"invoker.AsyncUnaryCall(__Method_{method.name}, null, options, request);"
    # The plugin also generates an overload with the parts of the options.
    yield f"public virtual AsyncUnaryCall<{response}> {method.name}Async({request} request, Metadata? headers = null,"
    yield "System.DateTime? deadline = null, System.Threading.CancellationToken cancellationToken = default) =>"
    yield f"{method.name}Async(request, new CallOptions(headers, deadline, cancellationToken));"


def _type_name(message: Descriptor) -> str:
    return f"{message.file.GetOptions().csharp_namespace}.{message.name}"
