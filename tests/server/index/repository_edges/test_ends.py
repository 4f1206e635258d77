"""The file of ends: what is written is read back, and uses of names share what their names begin with."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.repository_edges.ends import ENDS_FILE, Ends, ends_of_line, line_of_ends, read_ends, write_ends
from groundwire_index.repository_edges.full_names import FullNames, NameUse, OfferedName

NAMES = st.lists(st.text("ab.", max_size=6), max_size=4).map(tuple)


def use(
    names: tuple[str, ...], ending: str = "", import_lines: tuple[int, ...] = (), answered_by: tuple[str, ...] = ()
) -> NameUse:
    return NameUse("CSharpNames", FullNames(names, ending), "user", "Calls", 7, 0.9, "file", import_lines, answered_by)


@given(
    st.lists(
        st.builds(use, NAMES, st.text("ab."), st.lists(st.integers(0, 9), max_size=3).map(tuple), NAMES), max_size=5
    )
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, uses: list[NameUse]) -> None:
    folder = tmp_path_factory.mktemp("ends")
    ends = Ends(names=(OfferedName("CSharpNames", "Shop.Tax", "tax", "file"),), uses=tuple(uses))
    write_ends(folder, ends)
    assert read_ends(folder / ENDS_FILE) == ends


def test_the_namespaces_of_a_file_are_written_once(tmp_path: Path) -> None:
    namespaces = tuple(f"Company.Product.Part{number}." for number in range(50))
    uses = [use(namespaces, f"Type{number}") for number in range(100)]
    write_ends(tmp_path, Ends(uses=tuple(uses)))
    content = (tmp_path / ENDS_FILE).read_text()
    assert content.count('Company.Product.Part7."') == 1
    read_uses = read_ends(tmp_path / ENDS_FILE).uses
    assert read_uses == tuple(uses)
    assert len({id(read_use.names.beginnings) for read_use in read_uses}) == 1


def test_each_line_has_the_ends_of_one_file_and_one_line_may_have_all(tmp_path: Path) -> None:
    uses = [replace(use(("a.",), "Tax"), file_key=file) for file in ("one", "one", "two")]
    ends = Ends(names=(OfferedName("CSharpNames", "Shop.Tax", "tax", "one"),), uses=tuple(uses))
    write_ends(tmp_path, ends)
    lines = (tmp_path / ENDS_FILE).read_bytes().splitlines()
    assert [[use.file_key for use in ends_of_line(line).uses] for line in lines] == [[], [], ["one", "one"], ["two"]]
    (tmp_path / ENDS_FILE).write_bytes(line_of_ends(ends).removesuffix(b"\n"))
    assert read_ends(tmp_path / ENDS_FILE) == ends


@pytest.mark.parametrize("part", ["beginnings", "use_keys"])
def test_a_use_without_its_beginnings_or_keys_is_damage(tmp_path: Path, part: str) -> None:
    write_ends(tmp_path, Ends(uses=(use(("a.Tax", "b.Tax")),)))
    file = tmp_path / ENDS_FILE
    file.write_text(file.read_text().replace(f'"{part}":[', '"others":['))
    with pytest.raises(IndexDamagedError, match="beginnings or keys that the line lacks"):
        read_ends(file)


@pytest.mark.parametrize("place", ["-1", "true", "0.0", "1"])
def test_a_place_that_is_none_is_damage(tmp_path: Path, place: str) -> None:
    write_ends(tmp_path, Ends(uses=(replace(use(("a.",), "Tax"), file_key=""),)))
    file = tmp_path / ENDS_FILE
    file.write_text(file.read_text().replace('"key":0', f'"key":{place}'))
    with pytest.raises(IndexDamagedError):
        read_ends(file)


def test_the_keys_of_the_uses_in_a_file_are_written_once(tmp_path: Path) -> None:
    uses = [replace(use(("a.",), f"Type{number}"), key=f"cs::user{number % 2}") for number in range(100)]
    write_ends(tmp_path, Ends(uses=tuple(uses)))
    content = (tmp_path / ENDS_FILE).read_text()
    assert [content.count(f'"{key}"') for key in ("cs::user0", "cs::user1", "file")] == [1, 1, 1]
    assert read_ends(tmp_path / ENDS_FILE).uses == tuple(uses)


def test_uses_with_their_keys_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    fields = '"ending":"Tax","edge_type":"Calls","line":7,"confidence":0.9'
    with_file = f'{{"space":"CSharpNames","key":"5",{fields},"file_key":"file"}}'
    without_file = f'{{"space":"CSharpNames","key":"user",{fields}}}'
    line = f'{{"beginnings":[{{"of_names":["a."]}}],"written_uses":[{with_file},{without_file}]}}'
    (tmp_path / ENDS_FILE).write_text(line)
    assert read_ends(tmp_path / ENDS_FILE).uses == (
        NameUse("CSharpNames", FullNames(("a.",), "Tax"), "5", "Calls", 7, 0.9, "file"),
        NameUse("CSharpNames", FullNames(("a.",), "Tax"), "user", "Calls", 7, 0.9, ""),
    )


def test_a_type_that_is_hidden_is_not_what_its_constructor_makes() -> None:
    """The parts of a type may be in several files, and be hidden one by one."""
    constructor = OfferedName("CSharpNames", "Shop.Tax()", "constructor", "file", made_key="type")
    ends = Ends(names=(constructor,))
    assert "type" in ends.keys
    assert ends.seen(lambda key: True).names == (constructor,)
    assert ends.seen(lambda key: key != "type").names == (replace(constructor, made_key=""),)
