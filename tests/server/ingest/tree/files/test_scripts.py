"""Shell, Make, .http, Terraform, Bicep, PowerShell and GraphQL."""

from collections.abc import Callable

from groundwire_ingest.tree.files.reading import FileReading

Read = Callable[[str, str], FileReading]
Chunks = Callable[[str, str], list[tuple[str, int, int]]]

PAD = "x" * 600


def test_functions_of_a_shell_script(chunks: Chunks, read: Read) -> None:
    text = f"""\
#!/bin/sh
. ./lib/common.sh
source "$DIR/other.sh"
# builds
build() {{
  if true; then {{ echo {PAD}; }} fi
  cat <<EOF
}}
fake() {{
EOF
}}
one_line() {{ echo; }}
function deploy
{{
    inner() {{
        echo {PAD}
    }}
    echo "}} {PAD}"
}}
build
"""
    assert chunks("run.sh", text) == [("run.sh", 1, 20), ("build", 4, 11), ("deploy", 13, 19)]
    assert [(item.written, item.line) for item in read("run.sh", text).references] == [
        (("./lib/common.sh",), 2),
        (("other.sh",), 3),
    ]


def test_targets_of_a_makefile(chunks: Chunks, read: Read) -> None:
    text = f"""\
X := {PAD}
URL = http://a:80
include common.mk
.PHONY: all
# everything
all build: a b
\techo {PAD}

\techo done
define block
target: no
\t{PAD}
endef
%.o: %.c
\tcc {PAD}
plain:
"""
    assert chunks("Makefile", text) == [("Makefile", 1, 16), ("all build", 5, 9), ("block", 10, 13), ("%.o", 14, 15)]
    assert [item.written for item in read("Makefile", text).references] == [("common.mk",)]


def test_requests_of_an_http_file(chunks: Chunks) -> None:
    text = f"@host = x\n\n### first\n# c\nGET http://a/{PAD}\n\n###\nPOST {{{{host}}}}/b\n\n{PAD}\nPUT /c\n{PAD}\n"
    assert chunks("api.http", text) == [
        ("api.http", 1, 12),
        ("first", 3, 5),
        ("POST {{host}}/b", 7, 10),
        ("PUT /c", 11, 12),
    ]


def test_blocks_of_terraform(chunks: Chunks, read: Read) -> None:
    text = f"""\
# the bucket
resource "aws_s3_bucket" "logs" {{
  name = "${{var.name}}-{{{PAD}"
  policy = <<EOF
}}
EOF
  tags {{
    a = "{PAD}" # }}
  }}
}}
x = 1
module "web" {{
  source = "./modules/web"
  a      = "{PAD}"
}}
locals {{ a = 1 }}
"""
    assert chunks("main.tf", text) == [
        ("main.tf", 1, 16),
        ("resource.aws_s3_bucket.logs", 1, 10),
        ("module.web", 12, 15),
    ]
    (reference,) = read("main.tf", text).references
    assert (reference.written[0], reference.edge_type, reference.line) == ("./modules/web/main.tf", "Imports", 13)
    assert {node.data_type for node in read("main.tf", text).analysis.nodes} == {"deploy"}


def test_blocks_of_bicep(chunks: Chunks, read: Read) -> None:
    text = f"""\
param x string = '{PAD}'
@description('a {{')
resource s 'M.S/a@2020' = {{
  name: '''
}}
'''
  b: '{PAD}'
}}
module m './m.bicep' = {{
  c: '{PAD}' // }}
}}
output o string = s.id
"""
    assert chunks("main.bicep", text) == [("main.bicep", 1, 12), ("resource.s", 2, 8), ("module.m", 9, 11)]
    assert [(item.written, item.line) for item in read("main.bicep", text).references] == [(("./m.bicep",), 9)]


def test_functions_of_powershell(chunks: Chunks, read: Read) -> None:
    text = f"""\
param([string]$x)
. "$PSScriptRoot\\lib.ps1"
<# a {{ #>
function Get-It
{{
  param($a)
  "`" }} {PAD}"
  @'
}} '
'@
}}
if ($x) {{
  echo 1
}}
class A {{
  [int] M() {{ return 1 }} # {PAD}
  # {PAD}
}}
"""
    assert chunks("run.ps1", text) == [("run.ps1", 1, 18), ("function.Get-It", 4, 11), ("class.A", 15, 18)]
    assert [item.written for item in read("run.ps1", text).references] == [("lib.ps1",)]


def test_types_of_graphql(chunks: Chunks) -> None:
    text = f'''\
"""
An order {{ {PAD}
"""
type Order implements Node
  & Other @key(fields: "id") {{
  # {PAD}
  id: ID!
}}
scalar Date
union Result =
  | Order
  | {PAD}
extend type Query {{
  orders(first: Int = 1): [Order] # {PAD}
}}
'''
    assert chunks("schema.graphql", text) == [
        ("schema.graphql", 1, 15),
        ("type.Order", 1, 8),
        ("union.Result", 10, 12),
        ("extend.type.Query", 13, 15),
    ]
