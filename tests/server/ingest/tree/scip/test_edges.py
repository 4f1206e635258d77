"""A tree with an index in it: what the compiler states, what gives way to it, and what stays."""

from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceRecord
from groundwire_ingest.tree.source import TreeSource
from support.scip_index import Entry, Mark, document, edges_of, index, notes_of, write_tree

PACKAGE = "scip-test npm shop 1 "
ANIMAL = Entry(
    text="""\
export interface Animal {
  sound(): string;
}
export class Base implements Animal {
  name: string;
  constructor(name: string) {
    register(name);
    this.name = name.trim();
    LIMITS.push(name);
  }
  sound(): string {
    return "sound of " + this.name;
  }
}
export function register(name: string): void {
  console.log(name);
}
const LIMITS: string[] = [];
""",
    marks=[
        Mark(1, "Animal", PACKAGE + "`animal.ts`/Animal#", rows=(1, 3)),
        Mark(2, "sound", PACKAGE + "`animal.ts`/Animal#sound().", defines=True),
        Mark(4, "Base", PACKAGE + "`animal.ts`/Base#", rows=(4, 14)),
        Mark(4, "Animal", PACKAGE + "`animal.ts`/Animal#"),
        Mark(5, "name", PACKAGE + "`animal.ts`/Base#name.", defines=True),
        Mark(6, "constructor", PACKAGE + "`animal.ts`/Base#`<constructor>`().", rows=(6, 10)),
        Mark(7, "register", PACKAGE + "`animal.ts`/register()."),
        Mark(8, "name", PACKAGE + "`animal.ts`/Base#name."),
        Mark(9, "LIMITS", PACKAGE + "`animal.ts`/LIMITS."),
        Mark(11, "sound", PACKAGE + "`animal.ts`/Base#sound().", rows=(11, 13)),
        Mark(12, "name", PACKAGE + "`animal.ts`/Base#name."),
        Mark(15, "register", PACKAGE + "`animal.ts`/register().", rows=(15, 17)),
        Mark(18, "LIMITS", PACKAGE + "`animal.ts`/LIMITS.", defines=True),
    ],
    implements={
        PACKAGE + "`animal.ts`/Base#": [PACKAGE + "`animal.ts`/Animal#"],
        PACKAGE + "`animal.ts`/Base#sound().": [PACKAGE + "`animal.ts`/Animal#sound()."],
    },
)
DOG = Entry(
    text="""\
import { Base, register as enrol } from "./animal";
export class Dog extends Base {
  sound(): string {
    return "woof, said " + this.name;
  }
}
export const makeDog = (name: string): Base => {
  const dog = new Base(name);
  enrol(name);
  [name].forEach(enrol);
  return dog;
};
""",
    marks=[
        Mark(1, "Base", PACKAGE + "`animal.ts`/Base#"),
        Mark(1, "register", PACKAGE + "`animal.ts`/register()."),
        Mark(1, "enrol", PACKAGE + "`animal.ts`/register()."),
        Mark(1, '"./animal"', PACKAGE + "`animal.ts`/"),
        Mark(2, "Dog", PACKAGE + "`dog.ts`/Dog#", rows=(2, 6)),
        Mark(2, "Base", PACKAGE + "`animal.ts`/Base#"),
        Mark(3, "sound", PACKAGE + "`dog.ts`/Dog#sound().", rows=(3, 5)),
        Mark(4, "name", PACKAGE + "`animal.ts`/Base#name."),
        Mark(7, "makeDog", PACKAGE + "`dog.ts`/makeDog.", rows=(7, 12)),
        Mark(7, "Base", PACKAGE + "`animal.ts`/Base#"),
        Mark(8, "Base", PACKAGE + "`animal.ts`/Base#"),
        Mark(9, "enrol", PACKAGE + "`animal.ts`/register()."),
        Mark(10, "enrol", PACKAGE + "`animal.ts`/register()."),
    ],
    implements={
        PACKAGE + "`dog.ts`/Dog#": [PACKAGE + "`animal.ts`/Animal#", PACKAGE + "`animal.ts`/Base#"],
        PACKAGE + "`dog.ts`/Dog#sound().": [
            PACKAGE + "`animal.ts`/Animal#sound().",
            PACKAGE + "`animal.ts`/Base#sound().",
        ],
    },
)
FILES = {"animal.ts": ANIMAL.text, "dog.ts": DOG.text}


def documents(**entries: Entry) -> bytes:
    return index(document(f"{name}.ts", entry) for name, entry in entries.items())


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "zoo", {**FILES, "index.scip": documents(animal=ANIMAL, dog=DOG)})


def test_what_a_compiler_states_is_certain(zoo: Path) -> None:
    certain = {place for place, edge in edges_of(zoo).items() if edge.confidence == 1}
    assert certain >= {
        ("dog.ts", "Imports", "animal.ts"),
        ("dog.ts#Dog", "Inherits", "animal.ts#Base"),
        ("dog.ts#Dog.sound", "Overrides", "animal.ts#Base.sound"),
        ("animal.ts#Base", "Inherits", "animal.ts#Animal"),
        ("animal.ts#Animal", "ImplementedBy", "animal.ts#Base"),
        ("animal.ts#Base.sound", "Implements", "animal.ts#Animal.sound"),
        ("animal.ts#Animal.sound", "ImplementedBy", "animal.ts#Base.sound"),
        ("animal.ts#Base.sound", "OverriddenBy", "dog.ts#Dog.sound"),
        ("animal.ts#Base.constructor", "Calls", "animal.ts#register"),
        ("dog.ts#makeDog", "Calls", "animal.ts#register"),
        ("dog.ts#makeDog", "Calls", "animal.ts#Base.constructor"),
    }


def test_values_belong_to_the_node_whose_text_declares_them(zoo: Path) -> None:
    edges = edges_of(zoo)
    assert edges["dog.ts#Dog.sound", "References", "animal.ts#Base"].line == 4
    assert edges["animal.ts#Base.constructor", "References", "animal.ts"].line == 9


def test_that_a_member_uses_the_fields_of_its_type_goes_without_saying(zoo: Path) -> None:
    assert ("animal.ts#Base.sound", "References", "animal.ts#Base") not in edges_of(zoo)


def test_a_pair_has_no_reference_beside_a_call_or_a_base_type(zoo: Path) -> None:
    edges = edges_of(zoo)
    assert ("animal.ts#Base.constructor", "Calls", "animal.ts#register") in edges
    assert ("animal.ts#Base.constructor", "References", "animal.ts#register") not in edges
    assert ("dog.ts#Dog", "References", "animal.ts#Base") not in edges


def test_the_base_of_a_base_is_no_base_of_its_own(zoo: Path) -> None:
    marks = [Mark(1, "Dog", PACKAGE + "`dog.ts`/Dog#", rows=(1, 5))]
    bare = Entry("class Dog {\n  sound() {\n    return compute(1, 2, 3);\n  }\n}\n", marks, DOG.implements)
    (zoo / "dog.ts").write_text(bare.text)
    (zoo / "index.scip").write_bytes(documents(animal=ANIMAL, dog=bare))
    inherited = [end for start, edge_type, end in edges_of(zoo) if (start, edge_type) == ("dog.ts#Dog", "Inherits")]
    assert inherited == ["animal.ts#Base"]


def test_a_guess_gives_way_where_the_compiler_knows_the_name_to_mean_something_else(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import Store\n\n\ndef main(x):\n    x.archive()\n",
        "b.py": "class Store:\n    def archive(self):\n        print(1, 2, 3)\n        return 4\n",
    }
    assert ("a.py#main", "Calls", "b.py#Store.archive") in edges_of(write_tree(tmp_path, files))
    archive = Mark(5, "archive", "scip-test python other 1 io/File#archive().")
    marks = [Mark(2, "archive", "scip-test python shop 1 b/Store#archive().", rows=(2, 4))]
    made = [document("a.py", Entry(files["a.py"], [archive])), document("b.py", Entry(files["b.py"], marks))]
    (tmp_path / "index.scip").write_bytes(index(made))
    assert ("a.py#main", "Calls", "b.py#Store.archive") not in edges_of(tmp_path)


def test_a_guess_stays_where_the_compiler_knows_nothing_of_the_name(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import Store\n\n\ndef main(x):\n    x.archive()\n",
        "b.py": "class Store:\n    def archive(self):\n        print(1, 2, 3)\n        return 4\n",
    }
    before = edges_of(write_tree(tmp_path, files))["a.py#main", "Calls", "b.py#Store.archive"]
    made = [document(path, Entry(text, ())) for path, text in files.items()]
    (tmp_path / "index.scip").write_bytes(index(made))
    assert edges_of(tmp_path)["a.py#main", "Calls", "b.py#Store.archive"] == before


def test_calls_lead_on_to_what_overrides_a_callee_that_the_compiler_states(zoo: Path) -> None:
    say = Entry(
        'import { Animal } from "./animal";\n'
        "export function say(animal: Animal): string {\n  return animal.sound();\n}\n",
        [
            Mark(2, "say", PACKAGE + "`say.ts`/say().", rows=(2, 4)),
            Mark(2, "Animal", PACKAGE + "`animal.ts`/Animal#"),
            Mark(3, "sound", PACKAGE + "`animal.ts`/Animal#sound()."),
        ],
    )
    write_tree(zoo, {"say.ts": say.text, "index.scip": documents(animal=ANIMAL, dog=DOG, say=say)})
    edges = edges_of(zoo)
    assert edges["say.ts#say", "Calls", "animal.ts#Animal.sound"].confidence == 1
    assert edges["say.ts#say", "Calls", "animal.ts#Base.sound"].confidence < 1


def test_what_a_compiler_cannot_know_stays(tmp_path: Path) -> None:
    text = "def load(run):\n    run('SELECT Id FROM dbo.Invoice WHERE Id = 1')\n"
    marks = [Mark(1, "load", "scip-test python shop 1 a/load().", rows=(1, 2))]
    files = {"t.sql": "CREATE TABLE dbo.Invoice (Id int NOT NULL);\n", "a.py": text}
    write_tree(tmp_path, {**files, "index.scip": index([document("a.py", Entry(text, marks))])})
    assert [edge_type for _, edge_type, _ in edges_of(tmp_path)] == ["ReadsFrom"]


def test_edges_to_files_that_the_index_does_not_cover_stay(zoo: Path) -> None:
    without = edges_of(write_tree(zoo.parent / "plain", FILES))
    (zoo / "index.scip").write_bytes(documents(dog=DOG))
    assert edges_of(zoo).keys() >= without.keys()


def test_an_index_of_another_version_of_a_file_is_left_out(zoo: Path) -> None:
    (zoo / "dog.ts").write_text("// One line more.\n" + DOG.text)
    changed = {**FILES, "dog.ts": "// One line more.\n" + DOG.text}
    plain = edges_of(write_tree(zoo.parent / "plain", changed))
    assert "index.scip was made from another version of this file" in notes_of(zoo)["dog.ts"]
    dog_edges = {place: edge for place, edge in plain.items() if place[0].startswith("dog.ts")}
    assert {place: edge for place, edge in edges_of(zoo).items() if place[0].startswith("dog.ts")} == dog_edges


def test_places_outside_of_a_file_mean_another_version(zoo: Path) -> None:
    (zoo / "dog.ts").write_text("\n".join(DOG.text.split("\n")[:6]) + "\n")
    assert "another version" in notes_of(zoo)["dog.ts"]


def test_a_definition_that_is_not_where_it_should_be_counts_for_nothing(tmp_path: Path) -> None:
    text = "".join(f"def f{number}():\n    return g{number}(1, 2)\n\n\n" for number in range(20))
    names = [f"f{number}" for number in range(19)]
    marks = [
        Mark(4 * n + 1, name, f"scip-test python shop 1 a/{name}().", defines=True) for n, name in enumerate(names)
    ]
    lost = [Mark(4 * 19 + 1, "f19", "scip-test python shop 1 a/moved().", defines=True)]
    use = [Mark(2, "g0", "scip-test python shop 1 a/moved()."), Mark(6, "g1", "scip-test python shop 1 a/f0().")]
    made = index([document("a.py", Entry(text, [*marks, *lost, *use]))])
    edges = edges_of(write_tree(tmp_path, {"a.py": text, "index.scip": made}))
    assert list(edges) == [("a.py#f1", "Calls", "a.py#f0")]


def test_a_symbol_that_stands_under_the_name_of_another_one_is_not_believed(zoo: Path) -> None:
    wrong = [
        replace(mark, symbol=PACKAGE + "`animal.ts`/register().") if mark.line == 2 else mark for mark in DOG.marks
    ]
    (zoo / "index.scip").write_bytes(documents(animal=ANIMAL, dog=replace(DOG, marks=wrong, implements={})))
    edges = edges_of(zoo)
    assert ("dog.ts#Dog", "References", "animal.ts#register") not in edges
    assert ("dog.ts#Dog", "Inherits", "animal.ts#Base") in edges


def test_a_test_that_adds_to_a_type_does_not_define_it(zoo: Path) -> None:
    text = 'declare module "./animal" {\n  interface Base {\n    more: string;\n  }\n}\n'
    entry = Entry(text, [Mark(2, "Base", PACKAGE + "`animal.ts`/Base#", rows=(2, 4))])
    made = [document("base.test.ts", entry), document("animal.ts", ANIMAL), document("dog.ts", DOG)]
    write_tree(zoo, {"base.test.ts": text, "index.scip": index(made)})
    assert not [place for place in edges_of(zoo) if place[0].startswith("dog.ts") and "base.test.ts" in place[2]]


def test_a_module_of_more_files_than_one_would_name_leads_to_none(tmp_path: Path) -> None:
    module = "scip-test gomod shop 1 store/"
    texts = {f"store/f{number}.go": f"package store\n\nfunc F{number}() {{}}\n" for number in range(5)}
    main = 'package main\n\nimport "example.com/shop/store"\n\nfunc main() { store.F0() }\n'
    made = [document(path, Entry(text, [Mark(1, "store", module, defines=True)])) for path, text in texts.items()]
    use = Entry(main, [Mark(5, "store", module)])
    write_tree(tmp_path, {**texts, "main.go": main, "index.scip": index([*made, document("main.go", use)])})
    assert not [place for place in edges_of(tmp_path) if place[0] == "main.go"]


def test_the_order_of_an_index_does_not_matter(zoo: Path) -> None:
    def read() -> list[SourceRecord]:
        return list(TreeSource(zoo).read())

    first = read()
    turned = [replace(entry, marks=entry.marks[::-1]) for entry in (DOG, ANIMAL)]
    (zoo / "index.scip").write_bytes(documents(dog=turned[0], animal=turned[1]))
    assert read() == first
