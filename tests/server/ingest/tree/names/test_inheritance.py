"""Members that implement or override others, and calls that go through an interface, in C#."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

IREPO = "namespace S;\npublic interface IRepo\n{\n    void Save(int x);\n    int Find(string name);\n}\n"
REPO = (
    "namespace S;\npublic class Repo : IRepo\n{\n"
    "    public void Save(int x)\n    {\n        Write(x);\n    }\n"
    "    public int Find(string name) => Look(name);\n"
    "    public void Other()\n    {\n    }\n}\n"
)
MOCK = "namespace S;\npublic class {name} : IRepo\n{{\n    public void Save(int x)\n    {{\n    }}\n}}\n"
USER = "namespace S;\npublic class User\n{\n    IRepo repo;\n    void Run()\n    {\n        repo.Save(1);\n    }\n}\n"
RUN = "User.cs#S.User.Run"


def test_a_member_implements_that_of_its_interface_and_is_found_from_there(edges_of: EdgesOf) -> None:
    files = {"IRepo.cs": IREPO, "Repo.cs": REPO}
    pairs = {
        ("Repo.cs#S.Repo.Save", "IRepo.cs#S.IRepo.Save"): 0.9,
        ("Repo.cs#S.Repo.Find", "IRepo.cs#S.IRepo.Find"): 0.9,
    }
    assert edges_of("Implements", files) == pairs
    assert edges_of("ImplementedBy", files) == {
        **{(end, start): confidence for (start, end), confidence in pairs.items()},
        ("IRepo.cs#S.IRepo", "Repo.cs#S.Repo"): 0.9,
    }


def test_a_call_through_an_interface_leads_on_to_its_only_implementation(edges_of: EdgesOf) -> None:
    files = {"IRepo.cs": IREPO, "Repo.cs": REPO, "User.cs": USER}
    assert edges_of("Calls", files) == {(RUN, "IRepo.cs#S.IRepo.Save"): 0.9, (RUN, "Repo.cs#S.Repo.Save"): 0.8}


def test_of_several_implementations_none_is_sure(edges_of: EdgesOf) -> None:
    files = {"IRepo.cs": IREPO, "Repo.cs": REPO, "Fast.cs": MOCK.format(name="Fast"), "User.cs": USER}
    calls = edges_of("Calls", files)
    assert calls[RUN, "Repo.cs#S.Repo.Save"] == calls[RUN, "Fast.cs#S.Fast.Save"] == 0.5


def test_the_implementation_that_is_registered_is_likelier(edges_of: EdgesOf) -> None:
    setup = "namespace S;\nclass Setup\n{\n    void Add(X services) => services.AddScoped<IRepo, Repo>();\n}\n"
    files = {
        "IRepo.cs": IREPO,
        "Repo.cs": REPO,
        "Fast.cs": MOCK.format(name="Fast"),
        "User.cs": USER,
        "Setup.cs": setup,
    }
    calls = edges_of("Calls", files)
    assert (calls[RUN, "Repo.cs#S.Repo.Save"], calls[RUN, "Fast.cs#S.Fast.Save"]) == (0.9, 0.5)
    assert edges_of("Registers", files) == {("Setup.cs#S.Setup.Add", "Repo.cs#S.Repo"): 0.9}
    assert edges_of("BoundTo", files) == {("IRepo.cs#S.IRepo", "Repo.cs#S.Repo"): 0.9}


def test_what_overrides_is_never_sure_where_the_base_has_a_body(edges_of: EdgesOf) -> None:
    files = {
        "A.cs": (
            "class Base\n{\n    public virtual void Go()\n    {\n    }\n}\n"
            "class Next : Base\n{\n    public override void Go()\n    {\n    }\n}\n"
            "class User\n{\n    Base b;\n    void Run()\n    {\n        b.Go();\n    }\n}\n"
        )
    }
    assert edges_of("Overrides", files) == {("A.cs#Next.Go", "A.cs#Base.Go"): 0.9}
    assert edges_of("OverriddenBy", files) == {("A.cs#Base.Go", "A.cs#Next.Go"): 0.9}
    assert edges_of("Calls", files) == {("A.cs#User.Run", "A.cs#Base.Go"): 0.9, ("A.cs#User.Run", "A.cs#Next.Go"): 0.5}


def test_a_call_leads_only_to_what_overrides_in_types_of_its_receiver(edges_of: EdgesOf) -> None:
    rules = "    function rules()\n    {\n        return 1;\n    }\n"
    run = "    function run()\n    {\n        return $this->rules();\n    }\n"
    files = {
        "base.php": f"<?php\nclass Base\n{{\n{rules}{run}}}\n",
        "own.php": f"<?php\nclass Own extends Base\n{{\n{rules.replace('1', 'parent::rules()')}}}\n",
        "user.php": f"<?php\nclass User extends Base\n{{\n{run}}}\n",
        "next.php": f"<?php\nclass Later extends User\n{{\n{rules}}}\n",
        "given.php": "<?php\nfunction given(User $user)\n{\n    return $user->rules();\n}\n",
    }
    base, own_rules, later = "base.php#Base", "own.php#Own.rules", "next.php#Later"
    assert edges_of("Calls", files) == {
        ("base.php#Base.run", base): 1.0,
        ("base.php#Base.run", own_rules): 0.5,
        ("base.php#Base.run", later): 0.5,
        (own_rules, base): 0.9,
        ("user.php#User.run", base): 0.9,
        ("user.php#User.run", later): 0.5,
        ("given.php#given", base): 0.9,
        ("given.php#given", later): 0.5,
    }


@pytest.mark.parametrize(
    "member", ["public void Save(int x, int y)\n    {\n    }", "public static void Saves()\n    {\n    }"]
)
def test_a_member_of_other_parameters_or_another_name_implements_nothing(edges_of: EdgesOf, member: str) -> None:
    overloaded = "interface IRepo\n{\n    void Save(int x);\n    void Save(string x, string y, int z);\n}\n"
    files = {"I.cs": overloaded, "R.cs": f"class Repo : IRepo\n{{\n    {member}\n}}\n"}
    assert edges_of("Implements", files) == {}


def overrides(edges_of: EdgesOf, files: Mapping[str, str]) -> set[tuple[str, str]]:
    """The members that override or implement others, and those, less their files."""
    edges = edges_of("Overrides", files).keys() | edges_of("Implements", files).keys()
    return {(start.partition("#")[2], end.partition("#")[2]) for start, end in edges}


@pytest.mark.parametrize(
    ("base", "member", "is_override"),
    [
        ("public virtual void Go(int n)", "public override void Go(int n)", True),
        ("public virtual void Go(int n)", "public sealed override void Go(System.Int32 n)", True),
        ("public abstract void Go(T n)", "public override void Go(string n)", True),
        ("public virtual void Go(int n)", "public new void Go(int n)", False),
        ("public void Go(int n)", "public void Go(int n)", False),
        ("private void Go(int n)", "private void Go(int n)", False),
        ("public virtual void Go(int n)", "public virtual void Go(string n)", False),
        ("public virtual void Go(int n)", "public override void Go()", False),
    ],
)
def test_in_csharp_only_what_says_so_overrides(edges_of: EdgesOf, base: str, member: str, is_override: bool) -> None:
    body = "\n    {\n        Log();\n    }\n"
    text = f"class Base<T>\n{{\n    {base}{body}}}\nclass Next : Base<string>\n{{\n    {member}{body}}}\n"
    expected = {("Next.Go", "Base.Go")} if is_override else set[tuple[str, str]]()
    assert overrides(edges_of, {"A.cs": text}) == expected


def test_a_member_that_hides_another_implements_only_interfaces_that_its_type_names(edges_of: EdgesOf) -> None:
    go = "    public void Go(int n)\n    {\n        Log();\n    }\n"
    text = (
        "interface IRun\n{\n    void Go(int n);\n}\ninterface IFast : IRun\n{\n}\n"
        f"class Base : IFast\n{{\n{go}}}\nclass Next : Base\n{{\n{go}}}\nclass Again : Base, IRun\n{{\n{go}}}\n"
    )
    assert overrides(edges_of, {"A.cs": text}) == {("Base.Go", "IRun.Go"), ("Again.Go", "IRun.Go")}


def test_private_members_of_java_and_other_parameter_types_override_nothing(edges_of: EdgesOf) -> None:
    def type_of(name: str, visibility: str, parameter: str) -> str:
        go = f"  {visibility} void go({parameter} n) {{\n    log();\n    log();\n  }}\n"
        return f"class {name} {{\n  void run() {{\n    go(1);\n    log();\n  }}\n{go}}}\n"

    private = {"A.java": type_of("A", "private", "int"), "B.java": type_of("B extends A", "private", "int")}
    assert overrides(edges_of, private) == {("B.run", "A.run")}
    assert edges_of("Calls", private) == {("A.java#A.run", "A.java#A.go"): 1.0, ("B.java#B.run", "B.java#B.go"): 1.0}
    other = {"A.java": type_of("A", "public", "int"), "B.java": type_of("B extends A", "public", "String")}
    assert overrides(edges_of, other) == {("B.run", "A.run")}
    same = {"A.java": type_of("A", "public", "int"), "B.java": type_of("B extends A", "public", "int")}
    assert overrides(edges_of, same) == {("B.run", "A.run"), ("B.go", "A.go")}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.py",
            "class Base:\n    def {}(self):\n        log()\n        log()\n        log()\n\n\n"
            "class Next(Base):\n    def {}(self):\n        log()\n        log()\n        log()\n",
        ),
        (
            "a.ts",
            "class Base {{\n  {}() {{\n    log();\n  }}\n}}\n"
            "class Next extends Base {{\n  {}() {{\n    log();\n  }}\n}}\n",
        ),
        (
            "a.php",
            "<?php\nclass Base\n{{\n    {}()\n    {{\n        log();\n    }}\n}}\n"
            "class Next extends Base\n{{\n    {}()\n    {{\n        log();\n    }}\n}}\n",
        ),
        (
            "a.kt",
            "open class Base {{\n    {}() {{\n        log()\n    }}\n}}\n"
            "class Next : Base() {{\n    {}() {{\n        log()\n    }}\n}}\n",
        ),
        (
            "a.cpp",
            "class Base {{\n  {}() {{\n    log();\n  }}\n}};\n"
            "class Next : public Base {{\n  {}() {{\n    log();\n  }}\n}};\n",
        ),
    ],
    ids=["python", "typescript", "php", "kotlin", "cpp"],
)
def test_private_and_other_final_members_are_overridden_in_no_language(edges_of: EdgesOf, path: str, text: str) -> None:
    seen = {
        "a.py": [("go", "go"), ("__go__", "__go__")],
        "a.ts": [("go", "go"), ("protected go", "go")],
        "a.php": [("public function go", "public function go"), ("protected function go", "public function go")],
        "a.kt": [("open fun go", "override fun go")],
        "a.cpp": [("virtual void go", "void go"), ("virtual void go", "void go")],
    }[path]
    hidden = {
        "a.py": [("__go", "__go")],
        "a.ts": [("#go", "#go"), ("private go", "go")],
        "a.php": [("private function go", "private function go")],
        "a.kt": [("private fun go", "private fun go"), ("fun go", "fun go")],
        "a.cpp": [("void go", "void go")],
    }[path]
    for base, member in seen:
        assert len(overrides(edges_of, {path: text.format(base, member)})) == 1, (base, member)
    for base, member in hidden:
        assert overrides(edges_of, {path: text.format(base, member)}) == set(), (base, member)
