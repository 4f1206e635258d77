"""The table of purposes: each row by its signs, and the same decision for one node and for columns."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import Location, Node
from groundwire_index.nodes.purpose_columns import purposes_of
from groundwire_index.nodes.purposes import (
    PROSE_PREFIX,
    PURPOSES,
    Purpose,
    asked_purposes,
    lowering_factors,
    purpose_of,
    purpose_of_path,
)

ROOT = Path(__file__).parents[4]
PATHS = {
    Purpose.GENERATED: "go.sum package-lock.json web/pnpm-lock.yaml src/packages.lock.json",
    Purpose.AGENT_INSTRUCTIONS: "AGENTS.md src/CLAUDE.md .github/copilot-instructions.md .cursorrules "
    ".cursor/rules/style.mdc .agents/skills/browser/references/commands.md skills/pdf/SKILL.md "
    ".github/prompts/review.prompt.md",
    Purpose.LICENCE: "LICENSE LICENSE.txt LICENCE-APACHE-2.0 COPYING docs/license.rst THIRD-PARTY-NOTICES.md "
    "Data/gpl.txt",
    Purpose.CHANGE_LOG: "CHANGELOG.md CHANGES.rst docs/changelog.md HISTORY.md docs/release-notes/v2.md "
    ".changeset/blue-dogs-run.md",
    Purpose.TRANSLATION: "web/locales/de.json lang/messages/pt-BR.json packages/lib/translations/de/web.po "
    "App_GlobalResources/Resource.resx js/providers/translations.js "
    "src/Strings.de.resx res/values-fr/strings.xml locales/en/order.yml src/i18n/en.ts locale/de/LC_MESSAGES/app.po",
    Purpose.MIGRATION: "shop/migrations/0001_initial.py src/Data/Migrations/20231009153249_Initial.cs "
    "prisma/migrations/20230406064219_init/migration.sql alembic/versions/6b0f5f32d602_initial.py "
    "db/migrate/20240101000000_create_orders.rb db/migration/V2__orders.sql store/migration/mysql/0.17/00__inbox.sql",
    Purpose.STORY: "web/Button.stories.tsx .storybook/preview.ts examples/tutorial/app.py samples/Web/Program.cs",
    Purpose.USER_TEXT: "web/content/blog/launch.mdx marketing/index.html src/mailer/templates/invite.hbs "
    "packages/email/templates/confirm.tsx templates/emails/reset.html help/faq.md "
    "Data/HelpFiles/en-US-Blog-help.config",
    Purpose.TOOL_CONFIGURATION: "tsconfig.json web/tsconfig.build.json package.json vite.config.ts .eslintrc.json "
    ".editorconfig pyproject.toml Directory.Packages.props .vscode/launch.json .github/dependabot.yml",
    Purpose.DATA: "src/countries.csv fixtures/orders.json logo.svg store/seed/sqlite/01__dump.sql db/demo-seed.sql "
    "shop/fixtures/orders.yaml",
    Purpose.PROMPT: "openai/prompts/recipes/parse.txt lib/ai/detect-fields/prompt.ts llm/system_prompt.py",
    Purpose.THIRD_PARTY: "src/vendor/zlib/inflate.c wwwroot/lib/signalr/signalr.js Scripts/jquery.validate.js "
    "pip/_vendor/six.py third_party/abseil/str.cc",
    Purpose.USER_INTERFACE: "web/src/Order.tsx pages/order.vue shop/templates/order.html src/Web/Order.razor App.xaml",
    Purpose.PRODUCT: "src/app.py src/App.xaml.cs src/appsettings.json .github/workflows/publish.yaml "
    "src/license/license-client.ts "
    "src/license.ts mealie/services/migrations/tandoor.py src/migrations/index.ts src/news/feed.py "
    "src/email/service.py src/agents/planner.py src/history/HistoryView.cs openapi.json web/lang/switcher.ts "
    "src/blog/blog.py src/versions/compare.py src/cli/prompt.py src/prompts/confirm.ts "
    "src/vendors.py src/Vendors/VendorService.cs app/vendor/vendor.controller.ts "
    "src/bootstrap.js lib/order.js src/jquery_bridge.cs src/seed/SeedOrders.cs "
    "sql/orders.sql",
}
CASES = [(purpose, path) for purpose, paths in PATHS.items() for path in paths.split()]


@pytest.mark.parametrize(("purpose", "path"), CASES, ids=[path for _, path in CASES])
def test_a_path_has_the_sign_of_its_purpose(purpose: Purpose, path: str) -> None:
    assert purpose_of_path(path) is purpose


def test_each_purpose_has_a_row_in_the_documentation() -> None:
    page = (ROOT / "docs" / "purposes.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", page, re.MULTILINE))
    assert rows == {row.name: f"{row.factor:g}" for row in PURPOSES}
    assert len(PURPOSES) == len(Purpose)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where is the order refunded?", set()),
        ("Which release was the first to refund orders?", set()),
        ("What does the changelog say?", {Purpose.CHANGE_LOG}),
        ("Which Tests check it?\nmigration of orders", {Purpose.TEST, Purpose.MIGRATION}),
        ("How is it done in a test?", set()),
    ],
)
def test_the_words_of_a_question_ask_for_purposes(question: str, expected: set[Purpose]) -> None:
    assert asked_purposes(question) == expected
    lowered = {row.name for row in PURPOSES if row.factor != 1}
    assert lowering_factors(expected).keys() == lowered - {PURPOSES[purpose].name for purpose in expected}


def node(path: str, corpus_type: str, is_test: bool, is_generated: bool) -> Node:
    return Node(
        id="shop::main::py::a",
        kind="py",
        local_id="a",
        text="a",
        token_count=1,
        location=Location(path, 1, 1, "0" * 64),
        corpus_type=corpus_type,
        is_test=is_test,
        is_generated=is_generated,
    )


nodes = st.builds(
    node,
    st.sampled_from(["", *(path for _, path in CASES)]),
    st.sampled_from(["", "CODE_LOGIC", "DOC_README", "DOC_GENERAL"]),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(nodes))
def test_columns_give_the_purposes_of_the_nodes(some: list[Node]) -> None:
    purposes = purposes_of(
        np.asarray([purpose_of_path(each.location.path) for each in some], dtype=np.int8),
        np.asarray([each.corpus_type.startswith(PROSE_PREFIX) for each in some], dtype=np.bool_),
        np.asarray([each.is_test for each in some], dtype=np.bool_),
        np.asarray([each.is_generated for each in some], dtype=np.bool_),
    )
    assert purposes.tolist() == [purpose_of(each) for each in some]


def test_flags_count_before_the_path_and_the_path_before_the_corpus() -> None:
    path = "web/locales/de.json"
    assert purpose_of(node(path, "DOC_GENERAL", is_test=True, is_generated=True)) is Purpose.TEST
    assert purpose_of(node(path, "DOC_GENERAL", is_test=False, is_generated=True)) is Purpose.GENERATED
    assert purpose_of(node(path, "DOC_GENERAL", is_test=False, is_generated=False)) is Purpose.TRANSLATION
    assert purpose_of(node("", "DOC_GENERAL", is_test=False, is_generated=False)) is Purpose.DOCUMENTATION
