"""No message or enum of the contract is called like a type that C# files have in view without a `using`.

`csharp_names.txt` lists the public types of .NET 8's namespaces System, System.Collections.Generic, System.IO,
System.Linq, System.Net.Http, System.Net.Http.Json, System.Threading and System.Threading.Tasks: the implicit usings of
projects, those of ASP.NET included.
"""

from pathlib import Path

from groundwire.v1 import errors_pb2, evidence_pb2, index_pb2, query_pb2, retrieval_pb2, scope_pb2

IMPLICIT = frozenset(Path(__file__).with_name("csharp_names.txt").read_text(encoding="utf-8").split())
# Words so general that projects have types of their own by these names, or ASP.NET has.
GENERAL = frozenset({"Direction", "Filter", "Location", "Scope", "Source"})


def test_no_message_or_enum_is_called_like_what_every_file_has_in_view() -> None:
    files = [part.DESCRIPTOR for part in (errors_pb2, evidence_pb2, index_pb2, query_pb2, retrieval_pb2, scope_pb2)]
    names = {name for file in files for name in (*file.message_types_by_name, *file.enum_types_by_name)}
    assert {"SearchHit", "IndexScope"} <= names
    assert {"Index", "Range", "List", "Path", "Task", "Timer"} <= IMPLICIT
    assert not names & (IMPLICIT | GENERAL)
