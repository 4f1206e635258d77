"""Many definitions of one name cost no more edges than a bound for each."""

from collections.abc import Callable, Mapping

EdgesOf = Callable[..., dict[tuple[str, str], float]]


def test_a_function_with_many_bodies_leads_to_none_of_them(edges_of: EdgesOf) -> None:
    files: Mapping[str, str] = {
        name: text
        for number in range(20)
        for name, text in ((f"d{number}/m.h", "void run(void);\n"), (f"d{number}/m.c", "void run(void) {}\n"))
    }
    assert edges_of("ImplementedBy", files) == {}
    two = {name: text for name, text in files.items() if name in ("d0/m.h", "d0/m.c", "d1/m.c")}
    assert set(edges_of("ImplementedBy", two).values()) == {0.5}


def test_each_part_of_a_type_sees_the_members_of_all(edges_of: EdgesOf) -> None:
    files = {f"P{n:02}.cs": f"partial class Big {{ void M{n}() {{ M{n + 1}(); }} }}\n" for n in range(20)}
    assert len(edges_of("Calls", files)) == 19


def test_many_registrations_of_one_interface_are_not_handed_to_each_constructor(edges_of: EdgesOf) -> None:
    classes = "".join(f"class C{n} : I {{ public C{n}(I other) {{ }} }}\n" for n in range(20))
    adds = "".join(f"s.AddScoped<I, C{n}>();" for n in range(20))
    text = f"interface I {{ }}\n{classes}class R {{ void Add(IServiceCollection s) {{ {adds} }} }}\n"
    assert edges_of("Injects", {"A.cs": text}) == {}


def test_a_member_of_many_types_alike_in_name_is_sought_in_none_of_them(edges_of: EdgesOf) -> None:
    def files(types: int) -> Mapping[str, str]:
        others = {f"d{n}/S.cs": "class S { }\n" for n in range(1, types)}
        uses = {"use/C.cs": "class C { void M(S s) { s.Go(); } }\n"}
        return {"d0/S.cs": "class S { public void Go() { } }\n", **others, **uses}

    assert edges_of("Calls", files(256)) == {("use/C.cs#C", "d0/S.cs#S"): 0.9}
    assert edges_of("Calls", files(257)) == {}


def test_a_name_is_sought_in_the_first_of_many_wildcard_imports(edges_of: EdgesOf) -> None:
    modules = {f"m{n}.py": f"def go{n}(): pass\n" for n in range(257)}
    imports = "".join(f"from m{n} import *\n" for n in range(257))
    calls = edges_of("Calls", {**modules, "use.py": f"{imports}def first(): go255()\ndef last(): go256()\n"})
    assert list(calls) == [("use.py#first", "m255.py#go255")]


def test_a_member_is_sought_in_the_nearest_of_many_base_types(edges_of: EdgesOf) -> None:
    types = "".join(f"class C{n} : C{n + 1} {{ protected void M{n}() {{ }} }}\n" for n in range(1, 50))
    uses = "class C0 : C1 { void Near() { M39(); } void Far() { M40(); } }\n"
    assert list(edges_of("Calls", {"A.cs": types + uses})) == [("A.cs#C0", "A.cs#C39")]


def test_a_method_of_a_common_name_is_not_guessed(edges_of: EdgesOf) -> None:
    def files(types: int) -> Mapping[str, str]:
        modules = {f"m{n}.py": "class T:\n    def frobnicate(self): pass\n" for n in range(types)}
        return {**modules, "use.py": "from m0 import T\n\ndef run(thing):\n    thing.frobnicate()\n"}

    assert edges_of("Calls", files(64)) == {("use.py#run", "m0.py#T.frobnicate"): 0.5}
    assert edges_of("Calls", files(65)) == {}
