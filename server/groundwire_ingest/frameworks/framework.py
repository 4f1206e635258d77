"""The interface of a framework: finders, which read its conventions in one file of code."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import CodeAnalysis, CodeFacts
from groundwire_ingest.tree.code_of_other_files.component import Component, ComponentCode
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.file_facts import FileFacts
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.framework_facts import EntityUse
from groundwire_ingest.tree.languages.findings import Finder
from groundwire_ingest.tree.names.conventions import NameConventions
from groundwire_ingest.tree.names.lookup import Lookup


@dataclass(frozen=True, slots=True)
class ComponentForm:
    """Files of markup with code, and how their code is read.

    Attributes:
        languages: The languages of the files as `file_language` names them, with spaces between them.
        suffixes: Of the files, with spaces between them.
        read: Reads a file that is not blank, in time linear in its length.
        file: Makes a file of code of a component, each piece on its line; None if it has no code. It also gets the
            components `shared` in the folders above, the outermost first, and the root namespaces of .NET by folder.
        code: Makes the nodes and facts of a component from the analysis of that file.
        shared: The names of files whose directives hold for the components in their folder and below.
    """

    languages: str
    suffixes: str
    read: Callable[[SourceFile], FileReading]
    file: Callable[[Component, Sequence[Component], Mapping[str, str]], SourceFile | None]
    code: Callable[[Component, CodeAnalysis], ComponentCode]
    shared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework, or a group of frameworks with the same conventions.

    Attributes:
        finders: Run on each file, in this order.
        languages: The languages that it is used in, with spaces between them; empty for all.
        components: Its files of markup with code, if it has any.
        names: What it says of names.
        entity_uses: Finds what the code of a language family does with entities.
        completed: Gives the facts of code with what other files say of it.
        file_edges: Finds edges between files, from what is kept of all files and the facts of their code.
        test_modules: The modules whose import makes a file a test, in lower case, with spaces between them.
        test_packages: Matches how the names of the packages of .NET start that make a project one of tests.
        service_name: The key of the setting by which a service gives itself a name, with dots between its names.
        placeholders: The suffixes of the files in whose strings `${key}` is a setting, with spaces between them.
    """

    finders: tuple[Finder, ...] = ()
    languages: str = ""
    components: ComponentForm | None = None
    names: NameConventions = field(default_factory=NameConventions)
    entity_uses: Callable[[Lookup], Iterator[EntityUse]] | None = None
    completed: Callable[[Sequence[FileFacts], Sequence[CodeFacts]], Iterator[CodeFacts]] | None = None
    file_edges: Callable[[Sequence[FileFacts], Sequence[CodeFacts]], Iterator[SourceEdge]] | None = None
    test_modules: str = ""
    test_packages: re.Pattern[str] | None = None
    service_name: str = ""
    placeholders: str = ""

    def is_used_in(self, *languages: str) -> bool:
        """True if it is used in one of these languages."""
        return not self.languages or not frozenset(self.languages.split()).isdisjoint(languages)
