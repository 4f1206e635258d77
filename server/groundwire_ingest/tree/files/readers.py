"""The reader of each language that is no code."""

from collections.abc import Callable, Mapping

from groundwire_ingest.tree.files.block_files import read_blocks
from groundwire_ingest.tree.files.json_file import read_json
from groundwire_ingest.tree.files.languages import PLAIN_TEXT
from groundwire_ingest.tree.files.line_files import read_http, read_ini, read_make, read_shell, read_toml
from groundwire_ingest.tree.files.markup.razor import read_razor
from groundwire_ingest.tree.files.markup.templates import read_component, read_template
from groundwire_ingest.tree.files.msbuild import read_msbuild, read_solution
from groundwire_ingest.tree.files.prose import read_asciidoc, read_restructured_text, read_style, read_table, read_text
from groundwire_ingest.tree.files.proto import read_proto
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.files.xaml import read_xaml
from groundwire_ingest.tree.files.xml_files import read_xml
from groundwire_ingest.tree.files.yaml_file import read_yaml
from groundwire_ingest.tree.model import SourceFile

FILE_READERS: Mapping[str, Callable[[SourceFile], FileReading]] = {
    "json": read_json,
    "toml": read_toml,
    "yaml": read_yaml,
    "ini": read_ini,
    "xml": read_xml,
    "msbuild": read_msbuild,
    "solution": read_solution,
    "xaml": read_xaml,
    "proto": read_proto,
    **dict.fromkeys(("graphql", "terraform", "bicep", "powershell"), read_blocks),
    "shell": read_shell,
    "make": read_make,
    "http": read_http,
    "razor": read_razor,
    **dict.fromkeys(("vue", "svelte", "astro"), read_component),
    "html": read_template,
    "css": read_style,
    "restructuredtext": read_restructured_text,
    "asciidoc": read_asciidoc,
    "csv": read_table,
    PLAIN_TEXT: read_text,
}
"""By language as `file_language` names it; each reads a file that is not blank in time linear in its length."""
