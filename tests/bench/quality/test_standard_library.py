"""A library's sources as documents."""

from pathlib import Path

import pytest

from bench.quality.standard_library import standard_library_documents

pytestmark = pytest.mark.slow

MODULE = "class Store:\n    def get(self, key):\n        return self.values[key]\n"


def test_a_library_is_cut_into_its_symbols_and_its_tests_are_left_out(tmp_path: Path) -> None:
    library = tmp_path / "library"
    for name in ("store.py", "package/inner.py", "test/test_store.py", "package/tests/test_inner.py", "notes.txt"):
        (library / name).parent.mkdir(parents=True, exist_ok=True)
        (library / name).write_text(MODULE, encoding="utf-8")
    for _ in range(2):
        documents = standard_library_documents(library, tmp_path / "work")
    methods = [document for document in documents if document.symbol == "Store.get"]
    assert [document.id for document in methods] == ["package/inner.py#Store.get", "store.py#Store.get"]
    assert {str(document.fields["path"]) for document in documents} == {"package/inner.py", "store.py"}
    assert methods[0].kind == "py"
    assert methods[0].fields["text"] == "    def get(self, key):\n        return self.values[key]"
