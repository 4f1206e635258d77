from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.decoding import MAX_FILE_BYTES, read_source
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.walk import ListedFile

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def read(make_tree: TreeMaker) -> Callable[..., SourceFile | SkippedFile]:
    def read(content: bytes, path: str = "a.cs", language: str = "csharp") -> SourceFile | SkippedFile:
        return read_source(make_tree({path: content}), ListedFile(path, language))

    return read


Reader = Callable[..., SourceFile | SkippedFile]


@pytest.mark.parametrize(
    "content",
    [
        "// é\r\nclass A {}".encode(),
        b"\xef\xbb\xbf" + "// é\r\nclass A {}".encode(),
        "// é\r\nclass A {}".encode("utf-16"),
        b"\xfe\xff" + "// é\r\nclass A {}".encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16 little endian", "utf-16 big endian"],
)
def test_decodes_and_keeps_line_ends(read: Reader, content: bytes) -> None:
    assert read(content) == SourceFile("a.cs", "// é\r\nclass A {}", "csharp")


def test_python_names_its_encoding(read: Reader) -> None:
    content = "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1")
    assert read(content, "a.py", "python") == SourceFile("a.py", "# -*- coding: latin-1 -*-\nname = 'é'\n", "python")


@pytest.mark.parametrize(
    ("content", "path", "language", "why"),
    [
        (
            bytes(range(128, 256)) * 9 + b"ab",
            "a.txt",
            "text",
            "not decodable as utf-8, and no text in a known encoding",
        ),
        (b"# coding: klingon\n", "a.py", "python", "not decodable as klingon: unknown encoding: klingon"),
        (b"# coding: utf-7\nx = '+2AA-'\n", "a.py", "python", "not decodable as utf-7: "),
        (b"# coding: ascii\nname = '\xe9'\n", "a.py", "python", "not decodable as ascii: "),
        (b"\xff\xfea", "a.cs", "csharp", "not decodable as utf-16: truncated data at byte"),
        (b"class A\0 {}", "a.cs", "csharp", "contains NUL characters"),
        (b"", "a.py", "python", "the file is empty"),
        (b" \r\n\t\n", "a.py", "python", "the file is empty"),
        (
            b"a;" * 10_001,
            "a.js",
            "javascript",
            "a line of 20002 characters; more than 20000 means that a program wrote it",
        ),
        (
            b"/*! Cart 1.2 | MIT */\n" + b"function a(b){return b+1}" * 60,
            "cart.js",
            "javascript",
            "minified: 1500 of 1522 characters are in long lines of many statements",
        ),
        (b".a{color:red}" * 100, "cart.css", "css", "minified: 1300 of 1300 characters"),
    ],
)
def test_what_cannot_be_read_is_skipped_with_the_reason(
    read: Reader, content: bytes, path: str, language: str, why: str
) -> None:
    skipped = read(content, path, language)
    assert isinstance(skipped, SkippedFile)
    assert skipped.path == path
    assert skipped.why.startswith(why)


@pytest.mark.parametrize(
    ("content", "path", "language"),
    [
        ("const icon = 'data:image/png;base64," + "iVBORw0KGgo" * 400 + "';\n", "icon.js", "javascript"),
        ("const path = 'M0 0" + " L10 20" * 400 + "';\n", "icon.ts", "typescript"),
        ("const emoji = /" + "\\\\u{1F3F4}|[0-9a-f]{1,4}:" * 60 + "/u;\n", "emoji.js", "javascript"),
        (".a{color:red}\n" * 400, "a.css", "css"),
        ("f(1);" * 250 + "\n" + "function total(cart) {\n  return cart.sum();\n}\n" * 40, "a.js", "javascript"),
        ("{" + '"a": {"b": 1},' * 400 + '"c": 1}', "a.json", "json"),
        ("class A { int a; }" * 100, "A.cs", "csharp"),
    ],
)
def test_long_lines_of_texts_and_of_other_languages_are_read(
    read: Reader, content: str, path: str, language: str
) -> None:
    assert read(content.encode(), path, language) == SourceFile(path, content, language)


def test_a_file_that_is_too_large_is_skipped_unread(read: Reader) -> None:
    skipped = read(b"x" * (MAX_FILE_BYTES + 1), "a.py", "python")
    assert skipped == SkippedFile("a.py", "5000001 bytes; files of more than 5000000 are not read")


def test_long_lines_are_read_in_other_languages(read: Reader) -> None:
    assert isinstance(read(b"x = '" + b"a" * 30_000 + b"'", "a.py", "python"), SourceFile)


@pytest.mark.parametrize(
    ("content", "text", "is_noted"),
    [
        ("// Größe, café".encode("cp1252"), "// Größe, café", True),
        ("// “quoted” 5 €".encode("cp1252"), "// “quoted” 5 €", True),
        (b"// \xe2\x82\xac and \xe9\nclass A {}", "// € and \N{REPLACEMENT CHARACTER}\nclass A {}", True),
        ("// é".encode(), "// é", False),
        ("class A {}\n// größer".encode("utf-16-le"), "class A {}\n// größer", False),
        ("class A {}\n// größer".encode("utf-16-be"), "class A {}\n// größer", False),
        (b"# coding: utf-8-unix\nclass A {}", "# coding: utf-8-unix\nclass A {}", False),
        (b"class A\r{\r}\r", "class A\n{\n}\n", False),
        (b"class A\r\n{\r}\n", "class A\r\n{\r}\n", False),
    ],
)
def test_other_encodings_and_line_ends_are_read_and_guesses_named(
    read: Reader, content: bytes, text: str, is_noted: bool
) -> None:
    file = read(content)
    assert isinstance(file, SourceFile)
    assert file.text == text
    assert [note.path for note in file.notes] == (["a.cs"] if is_noted else [])


@pytest.mark.parametrize(
    ("encoding", "comment"),
    [
        ("gb18030", "计算增值税的类。返回税率。如果订单为空则抛出异常并记录日志。"),
        ("big5", "計算增值稅的類別。傳回稅率。"),
        ("shift_jis", "消費税の計算を行うクラスです。税率を返します"),
        ("euc_jp", "消費税の計算を行うクラスです。税率を返します"),
        ("euc_kr", "부가가치세를 계산하는 클래스입니다. 세율을 반환한다"),
        ("cp1251", "Класс для расчёта налога на добавленную стоимость"),
        ("koi8_r", "Класс для расчёта налога на добавленную стоимость"),
        ("cp1253", "Κλάση για τον υπολογισμό του φόρου προστιθέμενης αξίας"),  # noqa: RUF001
    ],
)
def test_letters_of_another_script_are_read_where_there_are_enough(read: Reader, encoding: str, comment: str) -> None:
    text = f"class Total\n{{\n    // {comment}\n}}\n"
    file = read(text.encode(encoding))
    assert isinstance(file, SourceFile)
    assert file.text == text
    assert file.notes[0].why == f"not UTF-8; read as {encoding}, which is a guess"


def test_one_bad_byte_among_letters_of_utf_8_is_the_only_one_lost(read: Reader) -> None:
    text = "// Класс для расчёта налога\n"
    file = read(text.encode() + b"// \xe9\xff\n")
    assert isinstance(file, SourceFile)
    assert file.text.startswith(text)
    assert "\N{REPLACEMENT CHARACTER}" in file.text


@pytest.mark.parametrize("encoding", ["gbk", "koi8-r", "shift-jis"])
def test_letters_of_other_scripts_are_replaced_and_the_code_around_them_is_read(read: Reader, encoding: str) -> None:
    comment = {"gbk": "计算总额", "koi8-r": "налоги", "shift-jis": "請求書"}[encoding]
    file = read(f"// {comment}\nclass Total\n{{\n}}\n".encode(encoding))
    assert isinstance(file, SourceFile)
    assert file.text.endswith("\nclass Total\n{\n}\n")
    assert "\N{REPLACEMENT CHARACTER}" in file.text


def test_a_python_file_that_is_not_what_it_should_be_is_read_all_the_same(read: Reader) -> None:
    file = read(b"x = 1\nname = '\xe9'\n", "a.py", "python")
    assert isinstance(file, SourceFile)
    assert file.text == "x = 1\nname = 'é'\n"
