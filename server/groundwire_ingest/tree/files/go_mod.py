"""Files of Go's tool that say which modules a module and a workspace consist of: go.mod and go.work."""

from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.languages.go.go_modules import Directive, directives

_REPLACED_BY = "=>"
_LOCAL = ("./", "../")


def read_go_mod(file: SourceFile) -> FileReading:
    """The file as a whole, or cut at blank lines where it is long.

    A folder that a module is replaced by, or that a workspace uses, is a reference to the go.mod in it.
    """
    folders = ((_folder(directive), directive.line) for directive in directives(file.text))
    references = (
        PathReference(file.path, (f"{folder}/go.mod",), "References", line) for folder, line in folders if folder
    )
    return FileReading(write_parts(file, ()), tuple(references))


def _folder(directive: Directive) -> str:
    """The folder that a directive names, relative to its file; "" for none."""
    match directive.verb, directive.words:
        case "use", (folder,):
            return folder
        case "replace", (*_, mark, folder) if mark == _REPLACED_BY and folder.startswith(_LOCAL):
            return folder
        case _:
            return ""
