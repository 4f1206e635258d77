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
