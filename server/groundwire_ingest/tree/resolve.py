"""Edges across a source tree: what the names in code, and the strings that it shares with other code, refer to.

Names are resolved within what a file's imports allow. An edge's confidence says how certain that is; a chain of
steps (a call on a field of an imported type) has the confidence of its least certain step:

- 1.0: The name is declared in the same file (Go: in the same package) or imported by name. Or it is a member of the
  type of `self` or `this`.
- 0.9: The name comes from a wildcard import, the same namespace, a base type, or a variable or field whose type the
  source states. Or it comes from a module found below another folder than the importing file's own. Of a call through
  an interface: the implementation that is registered for it.
- 0.8: The receiver is a variable, and its type is that of the expression it was set to. Of a call through an interface:
  the only implementation. Or both ends share a specific name, such as a test and its type.
- 0.6: Weaker evidence: a message that is made and perhaps sent, a field known only by its name.
- 0.5: Two or three definitions fit, such as overloads, or several implementations. Or the receiver is unknown, and
  exactly one type among the file's own and its imports has a method of that name.

There is no edge where more than three definitions fit, and none to the overrides of a member that has more than eight.
There is none where the receiver is known to come from outside the tree. There is none for a guess by a method name that
the language's collections and strings have too.

`Imports` edges lead from file to file. An import of a whole namespace or package (C#, Java, Go) leads to those
of its files whose types and functions the importing file names.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from groundwire_index.repository_edges.ends import Ends
from groundwire_index.repository_edges.full_names import NameUse, OfferedName
from groundwire_index.repository_edges.messages import MessageHandler, MessageUse
from groundwire_index.repository_edges.requests import Served
from groundwire_ingest.frameworks.registry import frameworks_of
from groundwire_ingest.records import LateFacts, SourceEdge
from groundwire_ingest.tree.code_facts import CodeFacts
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES
from groundwire_ingest.tree.file_analysis import EntityMapping
from groundwire_ingest.tree.framework_facts import EntityUse, Page
from groundwire_ingest.tree.names.conventions import FrameworkNames
from groundwire_ingest.tree.names.family import FamilyEdges, ImplementedMember
from groundwire_ingest.tree.names.rules import NameRules, TreeLayout
from groundwire_ingest.tree.names.run_time_links.requests import TreeRequests
from groundwire_ingest.tree.names.run_time_links.texts import ResolvedText
from groundwire_ingest.tree.names.table import SymbolTable


@dataclass(frozen=True, slots=True)
class Resolution:
    """The edges between the files of a tree.

    Edges are sorted within a file and unique; `mappings` are the nodes that an ORM maps to tables. `implemented` has,
    for the key of a member, the members that it implements or overrides. `texts` are the strings that code builds,
    `entity_uses` what it does with entities. `ends` are what other trees may be joined to.
    """

    edges: tuple[SourceEdge, ...]
    mappings: tuple[EntityMapping, ...]
    implemented: Mapping[str, Sequence[ImplementedMember]]
    texts: tuple[ResolvedText, ...] = ()
    entity_uses: tuple[EntityUse, ...] = ()
    ends: Ends = field(default_factory=Ends)


def resolve(
    files: Iterable[CodeFacts],
    layout: TreeLayout,
    pages: Iterable[Page] = (),
    services: Mapping[str, str] = MappingProxyType({}),
    rpcs: Iterable[OfferedName] = (),
    *,
    has_sql: bool = True,
) -> Resolution:
    """Resolves the names in the code files of a tree, by language and path, and what its `pages` ask for.

    `services` has the names of services by the folders of their code, `rpcs` the methods of .proto files.
    Without SQL in the tree (`has_sql`) the strings of the code are left as they are.
    """
    by_path = sorted(files, key=lambda facts: facts.path)

    families: defaultdict[type[NameRules], list[CodeFacts]] = defaultdict(list)
    for facts in by_path:
        families[CODE_LANGUAGES[facts.language].names].append(facts)
    edges: list[SourceEdge] = []
    mappings: list[EntityMapping] = []
    implemented: dict[str, Sequence[ImplementedMember]] = {}
    served: list[Served] = []
    texts: list[ResolvedText] = []
    entity_uses: list[EntityUse] = []
    handlers: list[MessageHandler] = []
    messages: list[MessageUse] = []
    offered_names = list(rpcs)
    rpc_by_key = {rpc.key: rpc for rpc in offered_names}
    name_uses: list[NameUse] = []
    for names in dict.fromkeys(language.names for language in CODE_LANGUAGES.values()):
        languages = [language.name for language in CODE_LANGUAGES.values() if language.names is names]
        frameworks = frameworks_of(*languages)
        rules = names(SymbolTable(families[names]), layout)
        family = FamilyEdges(rules, FrameworkNames([item.names for item in frameworks], rules))
        for item in family.edges():
            if isinstance(item, EntityMapping):
                mappings.append(item)
            else:
                edges.append(item)
        implemented.update(family.implemented())
        served.extend(family.served)
        handlers.extend(family.handlers())
        messages.extend(family.messages())
        offered_names.extend(family.offered_names())
        name_uses.extend(family.name_uses(rpc_by_key))
        if has_sql:
            texts.extend(family.texts())
            for framework in frameworks:
                if framework.entity_uses is not None:
                    entity_uses.extend(framework.entity_uses(family.lookup))
    requests = TreeRequests(served, services)
    edges.extend(edge for facts in by_path for edge in requests.edges(facts))
    edges.extend(edge for page in pages for edge in requests.page_edges(page))
    ends = Ends(
        tuple(served),
        dict(services),
        tuple(requests.ends),
        tuple(handlers),
        tuple(messages),
        tuple(offered_names),
        tuple(name_uses),
    )
    return Resolution(tuple(edges), tuple(mappings), implemented, tuple(texts), tuple(entity_uses), ends)


def implementing_facts(
    implemented: Mapping[str, Sequence[ImplementedMember]], may_name: Callable[[str], Callable[[str], bool]]
) -> Iterator[LateFacts]:
    """What members implement or override; `may_name` says of a node which others it may name, by their keys."""
    for key, members in implemented.items():
        symbols = sorted({item.name for item in members if may_name(key)(item.key)})
        if symbols:
            yield LateFacts(key, f"implements {', '.join(symbols)}")
