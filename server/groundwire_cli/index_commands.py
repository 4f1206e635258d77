"""`groundwire index` and `groundwire export`: from sources to indexes, and from an index to JSONL."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from groundwire.printable_text import one_line
from groundwire_cli.options import (
    EXIT_USAGE,
    Branch,
    Repository,
    checked_scope,
    fail,
    message_of,
    pinned_scope,
    reporting_failures,
)
from groundwire_cli.storage_options import Place, with_storage
from groundwire_index.addresses import without_userinfo
from groundwire_index.embedding.model_names import DEFAULT_MODEL
from groundwire_index.operator_errors import OperatorError
from groundwire_index.storage import Storage

if TYPE_CHECKING:
    from groundwire_ingest.repositories.indexing import Indexer
    from groundwire_ingest.repositories.repositories_file import Repository as IndexedRepository


def _checked_link_template(given: str | None) -> str | None:
    from groundwire_ingest.repositories.link_templates import given_problem

    problem = None if given is None else given_problem(given)
    if given is not None and problem is not None:
        fail(f"--link-template: {without_userinfo(given)!r} {problem}", EXIT_USAGE)
    return given


@partial(with_storage, builds=True)
def index(
    source: Annotated[
        str,
        typer.Argument(
            help="A source tree, RoslynIndexer bundle, SCIP index, Slack export or JSONL; the address of a Git "
            "repository; or a YAML file of several."
        ),
    ],
    place: Place,
    repository: Annotated[
        str, typer.Option("--repository", "-r", help="The repository the index belongs to; a YAML file says it itself.")
    ] = "",
    branch: Annotated[
        str, typer.Option("--branch", "-b", help="The branch the index belongs to; a YAML file says it itself.")
    ] = "",
    ref: Annotated[
        str, typer.Option(help="The branch, tag or commit of a Git repository.", show_default="its default branch")
    ] = "",
    version: Annotated[
        str, typer.Option(help="The version's name; it is built in any case. The time of the build unless given.")
    ] = "",
    embedder: Annotated[
        str | None,
        typer.Option(
            help="A sentence-transformers model by name or path, or a service's URL#model=NAME; none to embed nothing.",
            show_default=DEFAULT_MODEL,
        ),
    ] = None,
    send_texts_to: Annotated[
        str, typer.Option(metavar="HOST", help="Let the embedding service at HOST get texts with access rules.")
    ] = "",
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Leave out paths of a source tree, by a line of .gitignore; repeatable."),
    ] = None,
    activate: Annotated[bool, typer.Option("--activate/--no-activate", help="Let the new version answer.")] = True,
    skip_dangling_edges: Annotated[
        bool, typer.Option("--skip-dangling-edges", help="Count and drop edges to nodes that are not there.")
    ] = False,
    link_template: Annotated[
        str | None,
        typer.Option(
            metavar="TEMPLATE",
            help="Makes the links of answers, such as https://git.example/shop/blob/{commit}/{path}#L{start_line}; "
            "or none; or the kind of the address's host: github, gitlab, gitea.",
            show_default="auto, by known hosts",
            callback=_checked_link_template,
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running, and index again whenever files change.")
    ] = False,
) -> None:
    """Build an index version from SOURCE, publish it, and let it answer. If nothing has changed, do nothing.

    SOURCE may be a YAML file (.yaml, .yml) that lists several sources with their options: docs/indexing.md.

    It may also be the address of a Git repository, the folder of a bare one, or with --ref any one's folder. Repository
    and branch then have the names that they have there, unless they are given.

    For Milvus it is built in the data folder first, which keeps the embeddings and encoders in any case.
    """
    if watch and (version or not activate):
        fail("--watch names and activates what it builds; leave out --version and --no-activate", EXIT_USAGE)
    if embedder == "":
        fail("--embedder is empty: is the variable that it comes from set, and its value in quotes?", EXIT_USAGE)
    with reporting_failures("index"), ExitStack() as until_end:
        from groundwire_cli.terminal_progress import TerminalProgress
        from groundwire_ingest.git_trees import git_tree, is_git_repository, repository_name
        from groundwire_ingest.repositories.indexing import KEPT_BYTES, Indexer
        from groundwire_ingest.repositories.link_templates import AUTO
        from groundwire_ingest.repositories.repositories_file import SUFFIXES
        from groundwire_ingest.repositories.repositories_file import Repository as IndexedRepository

        path, origin = Path(source), None
        if is_git_repository(source, ref):
            if watch:
                fail("--watch needs a folder of files, and not a Git repository", EXIT_USAGE)
            tree = until_end.enter_context(git_tree(source, ref))
            path, origin = tree.folder, tree.origin
            repository, branch = repository or repository_name(source), branch or tree.branch
        elif ref:
            fail(f"--ref: {source} is no Git repository; leave it out, or name one", EXIT_USAGE)
        if path.suffix.lower() in SUFFIXES and not path.is_dir():
            given = (repository, branch, embedder, exclude, skip_dangling_edges, link_template)
            repositories = _listed(path, says_more=any(given))
            if watch and (of_git := [each.name for each in repositories if each.git_source]):
                fail(f"--watch needs folders of files, and no Git repositories: {', '.join(of_git)}", EXIT_USAGE)
        else:
            if not (repository and branch):
                fail("--repository and --branch must be given, except with a YAML file of repositories", EXIT_USAGE)
            scope = checked_scope(repository, branch, version)
            single = IndexedRepository(
                path,
                replace(scope, active_index=""),
                embedder or DEFAULT_MODEL,
                tuple(exclude or ()),
                skip_dangling_edges=skip_dangling_edges,
                origin=origin,
                link_template=link_template or AUTO,
            )
            repositories = (single,)
        progress = TerminalProgress()
        storage = place.open()
        indexer = Indexer(place.data, storage, progress, send_texts_to, KEPT_BYTES if watch else 0)
        if watch:
            from groundwire_cli.watching import watch_repositories

            watch_repositories(repositories, indexer, storage, place.data)
        else:
            _index_all(repositories, indexer, storage, version, activate=activate)


def _listed(file: Path, *, says_more: bool) -> "tuple[IndexedRepository, ...]":
    from groundwire_configuration.yaml_model import YamlFileError
    from groundwire_ingest.repositories.repositories_file import read_repositories

    if says_more:
        options = "--repository, --branch, --embedder, --exclude, --skip-dangling-edges and --link-template"
        fail(f"{file} states the options of each repository: leave out {options}", EXIT_USAGE)
    try:
        return read_repositories(file)
    except YamlFileError as error:
        for problem in error.problems[:-1]:
            print(f"error: {one_line(f'{file}: {problem}')}", file=sys.stderr)
        fail(f"{file}: {error.problems[-1]}", EXIT_USAGE)


def _index_all(
    repositories: "Sequence[IndexedRepository]", indexer: "Indexer", storage: Storage, version: str, *, activate: bool
) -> None:
    """Indexes one after the other; ends the command with an error once all were tried, if any of them failed."""
    from groundwire_cli.build_report import print_outcome
    from groundwire_ingest.repositories.indexing import version_name, with_files

    failed: list[str] = []
    for each in repositories:
        name = version or version_name()
        try:
            with with_files(each) as repository_in_folder:
                outcome = indexer.index(repository_in_folder, name, always=bool(version), activate=activate)
        except (OperatorError, OSError) as error:
            if len(repositories) == 1:
                raise
            failed.append(each.name)
            print(f"error: {each.name}: {message_of(error)}", file=sys.stderr)
        else:
            print_outcome(outcome, storage)
    if failed:
        fail(f"{len(failed)} of {len(repositories)} repositories failed: {', '.join(failed)}")


@with_storage
def export(
    repository: Repository,
    branch: Branch,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write; - for standard output.")],
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
    *,
    place: Place,
) -> None:
    """Write an index as JSONL, which `groundwire index` reads back. Includes everything, whatever its access."""
    scope = checked_scope(repository, branch, version)
    with reporting_failures("index"):
        from groundwire_ingest.jsonl.export import export_index

        storage = place.open()
        with storage.opened(pinned_scope(storage, scope)) as exported:
            count = export_index(exported, output)
    Console(stderr=True).print(f"{count:,} lines written to {output}")
