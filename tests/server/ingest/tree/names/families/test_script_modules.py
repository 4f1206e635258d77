"""Where modules are by tsconfig.json, package.json and what is generated."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

LIB = "export function f() {\n  go();\n}\n"


def imports(edges_of: EdgesOf, specifier: str, files: Mapping[str, str]) -> dict[str, float]:
    """The confidence of the imports of `apps/web/src/a.ts`, by the file that they lead to."""
    text = f"import {{ f }} from '{specifier}';\nf();\n"
    edges = edges_of("Imports", {**files, "apps/web/src/a.ts": text})
    return {end: confidence for (_, end), confidence in edges.items()}


@pytest.mark.parametrize(
    ("config", "specifier", "path"),
    [
        ('{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}', "@/lib/m", "apps/web/src/lib/m.ts"),
        ('{"compilerOptions": {"baseUrl": "./src", "paths": {"lib/*": ["x/*"]}}}', "lib/m", "apps/web/src/x/m.ts"),
        ('{"compilerOptions": {"baseUrl": "src"}}', "lib", "apps/web/src/lib/index.ts"),
        ('{"compilerOptions": {"paths": {"lib": ["../../lib.ts"]}}}', "lib", "lib.ts"),
        ('{"compilerOptions": {"paths": {"*": ["./types/*"], "@l/*": ["./l/*"]}}}', "@l/m", "apps/web/l/m.ts"),
        ('{"extends": "../../tsconfig.base.json"}', "@base/m", "base/m.ts"),
        ('{"extends": ["./none.json", "@org/config/tsconfig.web.json"]}', "@org2/m", "packages/config/m.ts"),
        (
            '{\n  // paths\n  "compilerOptions": { /* "a": 1 */ "paths": { "~/*": ["./src//*",], }, },\n}',
            "~/m",
            "apps/web/src/m.ts",
        ),
    ],
)
def test_paths_of_a_configuration(edges_of: EdgesOf, config: str, specifier: str, path: str) -> None:
    files = {
        "apps/web/tsconfig.json": config,
        "tsconfig.base.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@base/*": ["base/*"]}}}',
        "packages/config/package.json": '{"name": "@org/config"}',
        "packages/config/tsconfig.web.json": '{"compilerOptions": {"paths": {"@org2/*": ["./*"]}}}',
        path: LIB,
    }
    assert imports(edges_of, specifier, files) == {path: 1.0}


@pytest.mark.parametrize(
    ("package", "specifier", "path", "confidence"),
    [
        ('{"name": "@org/lib", "main": "dist/index.js"}', "@org/lib", "packages/lib/src/index.ts", 0.9),
        ('{"name": "@org/lib", "types": "src/main.ts"}', "@org/lib", "packages/lib/src/main.ts", 1.0),
        ('{"name": "lib", "exports": {".": {"import": "./src/a.ts"}}}', "lib", "packages/lib/src/a.ts", 1.0),
        ('{"name": "lib", "exports": {"./*": "./src/*.ts"}}', "lib/m", "packages/lib/src/m.ts", 1.0),
        ('{"name": "lib", "exports": {"./x": ["./src/y.ts"]}}', "lib/x", "packages/lib/src/y.ts", 1.0),
        ('{"name": "lib"}', "lib/m", "packages/lib/src/m.ts", 0.9),
        ('{"name": "lib"}', "lib/m", "packages/lib/m.ts", 0.9),
    ],
)
def test_packages_of_the_tree(edges_of: EdgesOf, package: str, specifier: str, path: str, confidence: float) -> None:
    files = {"packages/lib/package.json": package, path: LIB}
    assert imports(edges_of, specifier, files) == {path: confidence}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"name": 1}',
        '{"compilerOptions": []}',
        '{"compilerOptions": {"paths": {"a": 1}}}',
        "[" * 100_000,
    ],
)
@pytest.mark.parametrize("path", ["tsconfig.json", "package.json"])
def test_what_says_nothing_is_passed_over(edges_of: EdgesOf, path: str, text: str) -> None:
    files = {path: text, "apps/web/src/m.ts": LIB}
    assert imports(edges_of, "./m", files) == {"apps/web/src/m.ts": 1.0}
    assert imports(edges_of, "a", files) == {}


def test_configurations_that_extend_each_other_end(edges_of: EdgesOf) -> None:
    files = {"tsconfig.json": '{"extends": "./tsconfig.b.json"}', "tsconfig.b.json": '{"extends": "./tsconfig.json"}'}
    assert imports(edges_of, "@/m", {**files, "apps/web/m.ts": LIB}) == {}


def test_the_client_that_prisma_generates(edges_of: EdgesOf) -> None:
    files = {
        "db/schema.prisma": (
            'generator client {\n  provider = "prisma-client"\n  output = "../src/generated"\n}\n'
            "/// Who signs in.\nmodel User {\n  id Int @id\n  posts Post[]\n}\n"
            'model Post {\n  id Int @id\n  author User\n  @@map("posts")\n}\n'
        ),
        "src/db.ts": (
            "import { PrismaClient } from '@prisma/client';\n"
            "export class Db extends PrismaClient {\n  open() {\n    return this.$connect();\n  }\n}\n"
        ),
        "src/users.ts": (
            "import { Db } from './db';\nimport { User } from './generated/client';\n"
            "export class Users {\n  constructor(private db: Db) {}\n"
            "  list(): Promise<User[]> {\n    return this.db.user.findMany();\n  }\n"
            "  async move() {\n    await this.db.$transaction(async (tx) => tx.post.update({}));\n  }\n}\n"
        ),
    }
    references = edges_of("References", files)
    assert references == {
        ("db/schema.prisma#User", "db/schema.prisma#Post"): 1.0,
        ("db/schema.prisma#Post", "db/schema.prisma#User"): 1.0,
        ("src/users.ts#Users", "src/db.ts#Db"): 1.0,
        ("src/users.ts#Users.list", "db/schema.prisma#User"): 1.0,
        ("src/users.ts#Users.move", "db/schema.prisma#Post"): 0.8,
    }
    assert edges_of("Inherits", files) == {("src/db.ts#Db", "db/schema.prisma"): 1.0}
