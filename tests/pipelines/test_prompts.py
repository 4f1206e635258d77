from pathlib import Path

import pytest

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.prompts import PromptFolders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "answer.md").write_text("Q: {{question}}\nC: {{context}} {x} {{question}}\n", encoding="utf-8")
    return tmp_path


def test_fills_in_every_variable_wherever_it_stands(folder: Path) -> None:
    rendered = PromptFolders((folder,)).render("answer", {"question": "Why?", "context": "code"})
    assert rendered == "Q: Why?\nC: code {x} Why?\n"


def test_a_value_is_not_read_for_variables(folder: Path) -> None:
    rendered = PromptFolders((folder,)).render("answer", {"question": r"{{context}} \1", "context": "secret"})
    assert rendered.startswith("Q: {{context}} \\1\n")


def test_the_nearest_folder_wins(folder: Path, tmp_path: Path) -> None:
    near = tmp_path / "near"
    near.mkdir()
    (near / "answer.md").write_text("mine", encoding="utf-8")
    assert PromptFolders((tmp_path / "absent", near, folder)).render("answer", {}) == "mine"


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        ("{{question}}", {}, "unknown variable {{question}}"),
        ("{{quesion}}", {"question"}, "unknown variable {{quesion}}; did you mean 'question'?"),
        ("nothing", {"question"}, "variable {{question}} is not used"),
        ("{{ question }}", set(), "malformed variable in the line '{{ question }}': write {{name}}"),
        ("{{Question}}", set(), "malformed variable in the line '{{Question}}': write {{name}}"),
        ("a\n  {{open\n", set(), "malformed variable in the line '{{open': write {{name}}"),
        ("closed}}", set(), "malformed variable in the line 'closed}}': write {{name}}"),
    ],
)
def test_variables_are_strict(tmp_path: Path, text: str, variables: set[str], message: str) -> None:
    (tmp_path / "answer.md").write_text(text, encoding="utf-8")
    prompts = PromptFolders((tmp_path,))
    assert message in prompts.problems("answer", variables)
    with pytest.raises(StepError) as caught:
        prompts.render("answer", dict.fromkeys(variables, "value"))
    assert caught.value.rule == "prompt-variables"
    assert caught.value.message.startswith("prompt 'answer': ")
    assert message in caught.value.message


def test_every_problem_is_told(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("{{a}} {{b}}", encoding="utf-8")
    assert PromptFolders((tmp_path,)).problems("answer", ["c", "d"]) == (
        "unknown variable {{a}}",
        "unknown variable {{b}}",
        "variable {{c}} is not used",
        "variable {{d}} is not used",
    )


def test_a_sound_prompt_has_no_problems(folder: Path) -> None:
    assert PromptFolders((folder,)).problems("answer", ["context", "question"]) == ()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("anwser", "there is no prompt 'anwser' in {folder}; did you mean 'answer'?"),
        ("router", "there is no prompt 'router' in {folder}"),
        ("../answer", "'../answer' is no prompt's name: use lower-case letters, digits, '-' and '_', without .md"),
        ("answer.md", "'answer.md' is no prompt's name: use lower-case letters, digits, '-' and '_', without .md"),
        ("", "'' is no prompt's name: use lower-case letters, digits, '-' and '_', without .md"),
    ],
)
def test_a_prompt_that_is_not_there_is_named(folder: Path, name: str, message: str) -> None:
    expected = message.replace("{folder}", str(folder))
    assert PromptFolders((folder,)).problems(name, ()) == (expected,)
    with pytest.raises(StepError) as caught:
        PromptFolders((folder,)).render(name, {})
    assert (caught.value.rule, caught.value.message) == ("prompt-missing", expected)


def test_without_folders_the_message_says_where_prompts_go() -> None:
    assert "put it into prompts/ next to the pipeline's file" in PromptFolders(()).problems("answer", ())[0]


def test_a_prompt_must_be_utf_8(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_bytes(b"\xff")
    with pytest.raises(StepError, match=r"answer\.md cannot be read as UTF-8") as caught:
        PromptFolders((tmp_path,)).render("answer", {})
    assert caught.value.rule == "prompt-unreadable"


def test_a_field_of_a_variable_is_a_variable(tmp_path: Path) -> None:
    (tmp_path / "ask.md").write_text("{{plan.subQuery_1}} {{plan}}", encoding="utf-8")
    prompts = PromptFolders((tmp_path,))
    assert prompts.render("ask", {"plan.subQuery_1": "VAT", "plan": "all"}) == "VAT all"
    assert prompts.problems("ask", {"plan"}) == ("unknown variable {{plan.subQuery_1}}",)


def test_a_schema_is_a_file_beside_the_prompts(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"type": "object"}', encoding="utf-8")
    prompts = PromptFolders((tmp_path,))
    assert (prompts.schema("plan"), prompts.schema_problem("plan")) == ({"type": "object"}, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "schema 'plan': no JSON"),
        ("[" * 100_000, "schema 'plan': no JSON"),
        ("1" * 5_000, "schema 'plan': no JSON"),
        ("[]", "schema 'plan': must be an object"),
        ('{"type": "thing"}', "schema 'plan': no JSON Schema: 'thing' is not valid"),
        ('{"$ref": "#/nowhere"}', "schema 'plan': no whole JSON Schema"),
        ('{"$ref": "#"}', "schema 'plan': no JSON Schema: it refers to itself without end"),
    ],
)
def test_what_is_no_schema_is_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "plan.json").write_text(text, encoding="utf-8")
    assert PromptFolders((tmp_path,)).schema_problem("plan").startswith(message)


def test_a_schema_that_is_not_there_is_told() -> None:
    assert PromptFolders(()).schema_problem("plan").startswith("there is no schema 'plan'")
