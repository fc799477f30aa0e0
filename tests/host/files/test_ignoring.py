"""Ignore rules: as git itself reads them, where git is there, and a few by hand."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenthost.host.files.grants import Grants
from agenthost.host.files.ignore_rules import MAX_PATTERN, IgnoreRules
from agenthost.host.files.index import FileIndex, IndexLimits
from bounding import run_bounded

FOLDERS = ["a", "a/b", "ab", "ab/a", "ab/a/b", "foo", "foo/b", "foox"]
NAMES = ["c", "z", "abc", "a.b", "#a", "!a", "[a", "a ", "]", "-", "*", "a\\b", "foob"]
PIECES = "a b c * ** ? / [ab] [!a] [a-c] [^b-] []a] [[:alpha:]] [c-a] [a \\ \\a \\* . ! # - ]".split()
PIECES += [
    " ",
    "*a",
    "*b*",
    "*/",
    "\\/",
    "[[:digit:]a]",
    "[[:x:]]",
    "[[:a]",
    "[\\]]",
    "[a-]",
    "/**/",
    "**/",
    "/**",
    "foo",
]

rules = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join), max_size=5).map(
    "\n".join
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not there")
    top = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    for folder in ["", *FOLDERS]:
        (top / folder).mkdir(exist_ok=True)
        for name in NAMES:
            (top / folder / name).touch()
    return top


def kept_by_git(top: Path) -> set[str]:
    """Ask git which files it would take."""
    words = ["git", "-C", str(top), "-c", "core.excludesFile=", "ls-files", "-z", "-o", "--exclude-standard"]
    return set(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\0")) - {""}


def kept_by_us(top: Path) -> set[str]:
    index = FileIndex(top.parts[1:])
    index.refresh(Grants(top).jail(None))
    return {path for path in index.snapshot.paths if not path.endswith("/")}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules, rules, rules)
def test_an_index_has_exactly_what_git_would_include(repository: Path, top: str, a: str, deep: str) -> None:
    for folder, text in {"": top, "a": a, "ab/a": deep}.items():
        (repository / folder / ".gitignore").write_text(text + "\n")
    assert kept_by_us(repository) == kept_by_git(repository)


@pytest.mark.parametrize(
    ("text", "out", "kept"),
    [
        ("*.log\n!keep.log", ["a.log", "d/a.log"], ["keep.log", "d/keep.log"]),
        ("/dist", ["dist"], ["d/dist"]),
        ("d/x", ["d/x"], ["x", "e/d/x"]),
        ("**/x", ["x", "d/x", "d/e/x"], ["xx"]),
        ("d/**/x", ["d/x", "d/e/f/x"], ["x"]),
        ("d/**", ["d/x", "d/e/x"], ["d"]),
        ("# no rule\n\\#rule", ["#rule"], ["# no rule"]),
        ("a\\ \r\n\ufeff", ["a "], ["a"]),
        ("//", [], ["a", "a/b"]),
    ],
)
def test_rules_by_hand(text: str, out: list[str], kept: list[str]) -> None:
    rules = IgnoreRules(text)
    assert [path for path in out if not rules.leaves_out(path, is_folder=False)] == []
    assert [path for path in kept if rules.leaves_out(path, is_folder=False)] == []


def test_a_rule_for_folders_leaves_files_of_that_name() -> None:
    rules = IgnoreRules("build/")
    assert rules.leaves_out("d/build", is_folder=True)
    assert not rules.leaves_out("d/build", is_folder=False)


def test_deeper_rules_win() -> None:
    above = IgnoreRules("*.txt\n")
    below = IgnoreRules("!/note.txt\n", above, depth=1)
    assert not below.leaves_out("d/note.txt", is_folder=False)
    assert below.leaves_out("d/e/note.txt", is_folder=False)


NAME = "a" * 200
TREE = "/".join([NAME] * 20)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 9 + "b", NAME),
        ("*a" * 400 + "b", NAME),
        ("x/" + "*a" * 200 + "b", f"x/{NAME}"),
        ("**/*a" * 100 + "/b", TREE),
        ("a**/" + "*a/**/" * 100 + "b", TREE),
        ("/**/".join(["*a*a*a*b"] * 60), TREE),
        ("*[a-z]*[!b]*?" * 60 + "b", NAME),
    ],
)
def test_no_rule_takes_long_whatever_the_path(pattern: str, path: str) -> None:
    code = (
        "import sys; from agenthost.host.files.ignore_rules import IgnoreRules; "
        "print(IgnoreRules(sys.argv[1]).leaves_out(sys.argv[2], is_folder=False))"
    )
    assert run_bounded(code, pattern, path) == "False"


def test_a_tree_with_a_hostile_gitignore_is_indexed(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*a*a*a*a*a*a*a*a*b\n*.log\n")
    for name in (NAME, "one.log", "two.txt"):
        (tmp_path / name).touch()
    code = (
        "import sys; from pathlib import Path; from agenthost.host.files.grants import Grants; "
        "from agenthost.host.files.index import FileIndex; top = Path(sys.argv[1]); "
        "index = FileIndex(top.parts[1:]); index.refresh(Grants(top).jail(None)); "
        "print(*sorted(index.snapshot.paths))"
    )
    assert run_bounded(code, tmp_path).split() == [".gitignore", NAME, "two.txt"]


def test_many_rules_are_all_applied() -> None:
    rules = IgnoreRules("\n".join(f"*.kind{number}*x" for number in range(2_000)))
    assert rules.leaves_out("d/a.kind0.x", is_folder=False)
    assert rules.leaves_out("d/a.kind1999x", is_folder=False)
    assert not rules.leaves_out("d/a.kind2000", is_folder=False)


def test_a_line_that_is_too_long_is_ignored() -> None:
    name = "a" * (MAX_PATTERN + 1)
    assert not IgnoreRules(name).leaves_out(name, is_folder=False)
    assert IgnoreRules(f"{name}\n{name[1:]}").leaves_out(name[1:], is_folder=False)


def test_a_walk_that_takes_too_long_leaves_the_rest_out(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").touch()
    index = FileIndex(tmp_path.parts[1:], IndexLimits(seconds=0))
    index.refresh(Grants(tmp_path).jail(None))
    assert not index.snapshot.is_whole
    index.limits = IndexLimits()
    index.refresh(Grants(tmp_path).jail(None))
    assert index.snapshot.is_whole
    assert index.snapshot.paths == ["a/", "b/", "a/file", "b/file"]
