"""Modules, `use`, `impl` blocks and traits, over two crates."""

from collections.abc import Callable, Mapping

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "crates/core/Cargo.toml": """\
[package]
name = "shop-core"
version = "1"
""",
    "crates/core/src/lib.rs": """\
//! Serves.
pub mod data;
mod service;

pub use service::Service;

pub fn open(path: &str) -> Service {
    Service::new(path)
}
""",
    "crates/core/src/service.rs": """\
use crate::data::{self, Closer, Line as Row, Repo};

/// Serves.
#[derive(Debug)]
pub struct Service<'a> {
    repo: Arc<Repo>,
    rows: Vec<Row>,
    closer: Box<dyn Closer>,
}

impl<'a> Service<'a> {
    pub fn new(path: &str) -> Self {
        let repo = Repo::open(path).unwrap();
        repo.save(1);
        Self { repo, rows: vec![] }
    }

    pub fn run(&mut self, other: &mut Repo) -> Result<Row, Error> {
        self.repo.save(1)?;
        other.save(2);
        for row in self.rows.iter() {
            row.settle();
        }
        if let Some(row) = self.first() {
            row.settle();
        }
        self.closer.close(self);
        data::helper::<Row>(Self::report);
        outside::touch();
        let row = Row { count: 1 };
        Ok(row)
    }

    fn first(&self) -> Option<&Row> {
        self.rows.first()
    }

    fn report() {}
}

impl Closer for Service<'_> {
    fn close(&self, service: &Service) {
        println!("{}", 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens() {
        Service::new("a").run(&mut Repo::default());
    }
}
""",
    "crates/core/src/data/mod.rs": """\
mod repo;
pub use self::repo::*;

pub trait Closer: Send {
    fn close(&self, service: &Service);
    fn twice(&self) {
        self.close(1)
    }
}

pub struct Line {
    count: u32,
}

impl Line {
    pub fn settle(&self) {}
}

pub fn helper<T>(report: fn()) {
    report()
}
""",
    "crates/core/src/data/repo.rs": """\
pub struct Repo;

impl Repo {
    pub fn open(path: &str) -> Option<Repo> {
        None
    }
    pub fn save(&self, count: u32) {}
}
""",
    "crates/cli/src/main.rs": """\
use shop_core::{open, Service};

fn main() {
    let service = open("a");
    service.run(1);
}
""",
}


def test_nodes(analyse: Analyser) -> None:
    code = {path: text for path, text in SHOP.items() if not path.endswith(".toml")}
    analyses = [analyse(path, text) for path, text in code.items()]
    assert [item for analysis in analyses for item in analysis.file.skipped] == []
    nodes = [node for analysis in analyses for node in analysis.file.nodes]
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("crates/core/src/lib.rs", 1, 9, ""),
        ("crates/core/src/lib.rs#open", 7, 9, "pub fn open(path: &str) -> Service"),
        ("crates/core/src/service.rs", 1, 55, ""),
        ("crates/core/src/service.rs#Service", 3, 9, "pub struct Service<'a>"),
        ("crates/core/src/service.rs#Service~2", 11, 39, "impl<'a> Service<'a>"),
        ("crates/core/src/service.rs#Service.new", 12, 16, "pub fn new(path: &str) -> Self"),
        (
            "crates/core/src/service.rs#Service.run",
            18,
            32,
            "pub fn run(&mut self, other: &mut Repo) -> Result<Row, Error>",
        ),
        ("crates/core/src/service.rs#Service.first", 34, 36, "fn first(&self) -> Option<&Row>"),
        ("crates/core/src/service.rs#Service.report", 38, 38, "fn report()"),
        ("crates/core/src/service.rs#Service~3", 41, 45, "impl Closer for Service<'_>"),
        ("crates/core/src/service.rs#Service.close", 42, 44, "fn close(&self, service: &Service)"),
        ("crates/core/src/service.rs#tests.opens", 51, 54, "fn opens()"),
        ("crates/core/src/data/mod.rs", 1, 21, ""),
        ("crates/core/src/data/mod.rs#Closer", 4, 9, "pub trait Closer: Send"),
        ("crates/core/src/data/mod.rs#Closer.close", 5, 5, "fn close(&self, service: &Service)"),
        ("crates/core/src/data/mod.rs#Closer.twice", 6, 8, "fn twice(&self)"),
        ("crates/core/src/data/mod.rs#Line", 11, 13, "pub struct Line"),
        ("crates/core/src/data/mod.rs#Line~2", 15, 17, "impl Line"),
        ("crates/core/src/data/mod.rs#Line.settle", 16, 16, "pub fn settle(&self)"),
        ("crates/core/src/data/mod.rs#helper", 19, 21, "pub fn helper<T>(report: fn())"),
        ("crates/core/src/data/repo.rs#Repo", 1, 1, "pub struct Repo"),
        ("crates/core/src/data/repo.rs#Repo~2", 3, 8, "impl Repo"),
        ("crates/core/src/data/repo.rs#Repo.open", 4, 6, "pub fn open(path: &str) -> Option<Repo>"),
        ("crates/core/src/data/repo.rs#Repo.save", 7, 7, "pub fn save(&self, count: u32)"),
        ("crates/cli/src/main.rs", 1, 6, ""),
        ("crates/cli/src/main.rs#main", 3, 6, "fn main()"),
    ]


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        ("crates/cli/src/main.rs#main", "crates/core/src/lib.rs#open"): 1.0,
        ("crates/cli/src/main.rs#main", "crates/core/src/service.rs#Service.run"): 0.8,
        ("crates/core/src/data/mod.rs#Closer.twice", "crates/core/src/data/mod.rs#Closer.close"): 1.0,
        ("crates/core/src/data/mod.rs#Closer.twice", "crates/core/src/service.rs#Service.close"): 0.8,
        ("crates/core/src/lib.rs#open", "crates/core/src/service.rs#Service.new"): 1.0,
        ("crates/core/src/service.rs#Service.new", "crates/core/src/data/repo.rs#Repo.open"): 0.9,
        ("crates/core/src/service.rs#Service.new", "crates/core/src/data/repo.rs#Repo.save"): 0.8,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/mod.rs#Closer.close"): 0.9,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/mod.rs#Line"): 1.0,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/mod.rs#Line.settle"): 0.8,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/mod.rs#helper"): 1.0,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/repo.rs#Repo.save"): 0.9,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/service.rs#Service.close"): 0.8,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/service.rs#Service.first"): 1.0,
        ("crates/core/src/service.rs#tests.opens", "crates/core/src/service.rs#Service.new"): 1.0,
        ("crates/core/src/service.rs#tests.opens", "crates/core/src/service.rs#Service.run"): 1.0,
    }


def test_imports(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP) == {
        ("crates/cli/src/main.rs", "crates/core/src/lib.rs"): 1.0,
        ("crates/cli/src/main.rs", "crates/core/src/service.rs"): 1.0,
        ("crates/core/src/data/mod.rs", "crates/core/src/data/repo.rs#Repo"): 1.0,
        ("crates/core/src/lib.rs", "crates/core/src/data/mod.rs"): 1.0,
        ("crates/core/src/lib.rs", "crates/core/src/service.rs"): 1.0,
        ("crates/core/src/service.rs", "crates/core/src/data/mod.rs"): 1.0,
        ("crates/core/src/service.rs", "crates/core/src/data/repo.rs#Repo"): 0.9,
    }


def test_inherits(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", SHOP) == {
        ("crates/core/src/service.rs#Service~3", "crates/core/src/data/mod.rs#Closer"): 1.0
    }


def test_implements(edges_of: EdgesOf) -> None:
    assert edges_of("Implements", SHOP) == {
        ("crates/core/src/service.rs#Service.close", "crates/core/src/data/mod.rs#Closer.close"): 0.9
    }


def test_implemented_by(edges_of: EdgesOf) -> None:
    assert edges_of("ImplementedBy", SHOP) == {
        ("crates/core/src/data/mod.rs#Closer", "crates/core/src/service.rs#Service~3"): 0.9,
        ("crates/core/src/data/mod.rs#Closer.close", "crates/core/src/service.rs#Service.close"): 0.9,
    }


def test_parts(edges_of: EdgesOf) -> None:
    assert edges_of("PartialOf", SHOP) == {
        ("crates/core/src/data/mod.rs#Line", "crates/core/src/data/mod.rs#Line~2"): 1.0,
        ("crates/core/src/data/mod.rs#Line~2", "crates/core/src/data/mod.rs#Line"): 1.0,
        ("crates/core/src/data/repo.rs#Repo", "crates/core/src/data/repo.rs#Repo~2"): 1.0,
        ("crates/core/src/data/repo.rs#Repo~2", "crates/core/src/data/repo.rs#Repo"): 1.0,
        ("crates/core/src/service.rs#Service", "crates/core/src/service.rs#Service~2"): 1.0,
        ("crates/core/src/service.rs#Service", "crates/core/src/service.rs#Service~3"): 1.0,
        ("crates/core/src/service.rs#Service~2", "crates/core/src/service.rs#Service"): 1.0,
        ("crates/core/src/service.rs#Service~3", "crates/core/src/service.rs#Service"): 1.0,
    }


def test_references(edges_of: EdgesOf) -> None:
    assert edges_of("References", SHOP) == {
        ("crates/core/src/data/repo.rs#Repo.open", "crates/core/src/data/repo.rs#Repo"): 1.0,
        ("crates/core/src/lib.rs#open", "crates/core/src/service.rs#Service"): 1.0,
        ("crates/core/src/service.rs#Service", "crates/core/src/data/mod.rs#Closer"): 1.0,
        ("crates/core/src/service.rs#Service", "crates/core/src/data/mod.rs#Line"): 1.0,
        ("crates/core/src/service.rs#Service", "crates/core/src/data/repo.rs#Repo"): 0.9,
        ("crates/core/src/service.rs#Service.close", "crates/core/src/service.rs#Service"): 1.0,
        ("crates/core/src/service.rs#Service.first", "crates/core/src/data/mod.rs#Line"): 1.0,
        ("crates/core/src/service.rs#Service.new", "crates/core/src/data/repo.rs#Repo"): 0.9,
        ("crates/core/src/service.rs#Service.new", "crates/core/src/service.rs#Service"): 1.0,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/mod.rs#Line"): 1.0,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/mod.rs#helper"): 1.0,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/data/repo.rs#Repo"): 0.9,
        ("crates/core/src/service.rs#Service.run", "crates/core/src/service.rs#Service.report"): 1.0,
        ("crates/core/src/service.rs#tests.opens", "crates/core/src/data/repo.rs#Repo"): 0.9,
        ("crates/core/src/service.rs#tests.opens", "crates/core/src/service.rs#Service"): 1.0,
    }


@pytest.mark.parametrize("folder", ["", "crates/kit/"])
@pytest.mark.parametrize("root", ["lib", "main"])
def test_the_root_module_of_a_crate_in_any_folder(edges_of: EdgesOf, folder: str, root: str) -> None:
    text = (
        "mod inner;\npub struct Gate;\nimpl Gate {\n    pub fn opens(&self) -> bool {\n        let open = held();\n"
        "        open\n    }\n}\n"
        "pub fn passes(gate: Gate) -> bool {\n    let held = gate.opens();\n    held\n}\n"
        "fn held() -> bool {\n    let n = 1;\n    n > 1\n}\n"
    )
    inner = "use crate::Gate;\npub fn through(gate: Gate) -> bool {\n    let open = gate.opens();\n    open\n}\n"
    cargo = '[package]\nname = "kit"\n'
    path = f"{folder}src/{root}.rs"
    files = {f"{folder}Cargo.toml": cargo, path: text, f"{folder}src/inner.rs": inner}
    assert edges_of("Calls", files) == {
        (f"{path}#Gate.opens", f"{path}#held"): 1.0,
        (f"{path}#passes", f"{path}#Gate.opens"): 0.9,
        (f"{folder}src/inner.rs#through", f"{path}#Gate.opens"): 0.9,
    }
    assert edges_of("PartialOf", files) == {
        (f"{path}#Gate", f"{path}#Gate~2"): 1.0,
        (f"{path}#Gate~2", f"{path}#Gate"): 1.0,
    }


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ('println!("{}", add(k, 2))', {"add"}),
        ("vec![count.bump(k), add(1, k)]", {"add", "Count.bump"}),
        ("assert!(count.bump(2) == 3 && !add(1, 2).is_zero())", {"add", "Count.bump"}),
        ("assert_eq!(vec![crate::add(1, 2)], wanted)", {"add"}),
        ("tokio::select! { x = add(k, 1) => { count.bump(1) } }", {"add", "Count.bump"}),
        ('write!(out, "{}", Count::fresh::<u8>().bump(1))', {"Count.fresh", "Count.bump"}),
        ('println!("add(1, 2)")', set[str]()),
        ('println!("{}", other.add)', set[str]()),
        ("vec![add, bump]", set[str]()),
    ],
)
def test_calls_in_the_arguments_of_macros(edges_of: EdgesOf, body: str, called: set[str]) -> None:
    text = (
        "pub fn add(a: i32, b: i32) -> i32 {\n    let c = a + b;\n    c\n}\n"
        "pub struct Count { n: i32 }\nimpl Count {\n"
        "    pub fn bump(&self, by: i32) -> i32 {\n        let k = self.n + by;\n        k\n    }\n"
        "    pub fn fresh<T>() -> Count {\n        let n = 0;\n        Count { n }\n    }\n}\n"
        f"pub fn run(count: &Count, k: i32) {{\n    let wanted = k;\n    {body};\n}}\n"
    )
    calls = edges_of("Calls", {"src/lib.rs": text})
    assert {end.partition("#")[2] for start, end in calls if start == "src/lib.rs#run"} == called


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("if k { left } else { right }", {"left", "right"}),
        ("match k { true => left, _ => right }", {"left", "right"}),
        ("let all = [left, right];", {"left", "right"}),
        ("Tab { run: left }", {"left"}),
        ("return left;", {"left"}),
        ("match found { Some(left) => left, _ => 1 }", set[str]()),
        ("if let Some(right) = found { right } else { 1 }", set[str]()),
        ("let left = 1; left", set[str]()),
    ],
)
def test_functions_among_the_values_of_expressions(edges_of: EdgesOf, statement: str, named: set[str]) -> None:
    functions = "".join(f"fn {name}() -> i32 {{\n    let k = 1;\n    k\n}}\n" for name in ("left", "right"))
    text = f"{functions}fn pick(k: bool) {{\n    start();\n    {statement}\n}}\n"
    assert {end.partition("#")[2] for _, end in edges_of("References", {"src/lib.rs": text})} == named
