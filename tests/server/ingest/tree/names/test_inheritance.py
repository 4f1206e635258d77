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
    base, own, later = "base.php#Base", "own.php#Own.rules", "next.php#Later"
    assert edges_of("Calls", files) == {
        ("base.php#Base.run", base): 1.0,
        ("base.php#Base.run", own): 0.5,
        ("base.php#Base.run", later): 0.5,
        (own, base): 0.9,
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
