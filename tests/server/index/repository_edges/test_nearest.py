"""Which of several files are the nearest to another."""

import random

from groundwire_index.repository_edges.nearest import nearest


def shared(left: str, right: str) -> int:
    """How many path segments are the same from the start, looked up the plain way."""
    pairs = list(zip(left.split("/"), right.split("/"), strict=False))
    return next(
        (at for at, (left_segment, right_segment) in enumerate(pairs) if left_segment != right_segment), len(pairs)
    )


def test_the_file_itself_comes_before_its_folder() -> None:
    paths = ["a/b.py", "a/c.py", "d.py"]
    assert nearest("a/c.py", paths, str) == ["a/c.py"]
    assert nearest("a/bb.py", paths, str) == ["a/b.py", "a/c.py"]
    assert nearest("x.py", paths, str) == paths
    assert nearest("x.py", [], str) == []


def test_a_folder_is_not_one_whose_name_begins_like_it() -> None:
    paths = ["a-b/x.py", "a/x.py", "a0/x.py", "ab/x.py"]
    assert nearest("a/y.py", paths, str) == ["a/x.py"]
    assert nearest("a-/y.py", paths, str) == paths


def test_those_are_found_that_share_the_most_folders() -> None:
    draw = random.Random(7)
    for _ in range(300):
        paths = sorted(
            "/".join(draw.choice(["a", "a-", "a0", "b"]) for _ in range(draw.randint(1, 4))) + "/x" for _ in "12345"
        )
        path = "/".join(draw.choice(["a", "a-", "a0", "b"]) for _ in range(3)) + "/file"
        most = max(shared(path, item) for item in paths)
        assert nearest(path, paths, str) == [item for item in paths if shared(path, item) == most]


def test_a_few_paths_are_looked_at_of_many() -> None:
    paths = [f"d{number:05}/Item.cs" for number in range(50_000)]
    seen: list[str] = []

    def path_of(path: str) -> str:
        seen.append(path)
        return path

    assert nearest("d30000/Order.cs", paths, path_of) == ["d30000/Item.cs"]
    assert len(seen) < 100
