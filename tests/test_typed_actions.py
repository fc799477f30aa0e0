"""Actions are typed from whoever makes them to the journal: a mistake fails the type check.

`typing_samples` has a file with a mistake on every line that is marked, and one without any.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from imports import FILES, PACKAGE, tree

SAMPLES = Path(__file__).parent / "typing_samples"
ROOT = SAMPLES.parents[1]

MAKERS = "core/actions/"
"""Where actions are made."""

LEGACY = ("core/legacy/translation.py",)
"""Where those are made that actions of the legacy protocol become."""

ACTION_TYPE = re.compile(r"(session|chat|root|terminal|changeset|resourceWatch)/")


def reported() -> dict[tuple[str, int], set[str]]:
    """Check the samples, and return the codes of what is reported, by file and line."""
    files = [str(path.relative_to(ROOT)) for path in sorted(SAMPLES.glob("*.py"))]
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *files]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode in (0, 1), checked.stdout + checked.stderr
    found: dict[tuple[str, int], set[str]] = {}
    for file, line, code in re.findall(r"^(.*?):(\d+): error: .*\[([\w-]+)\]$", checked.stdout, re.MULTILINE):
        found.setdefault((Path(file).name, int(line)), set()).add(code)
    return found


def marked() -> dict[tuple[str, int], str]:
    """Return the lines of the samples that are marked, and the codes that they should be reported with."""
    found = {}
    for path in SAMPLES.glob("*.py"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := re.search(r"# error: ([\w-]+)$", line):
                found[path.name, number] = match[1]
    return found


def test_each_mistake_is_reported_and_nothing_else() -> None:
    found, wanted = reported(), marked()
    assert len(wanted) >= 35
    assert {name for name, _ in wanted} == {"mistakes.py"}
    assert {place: code for place, code in wanted.items() if code not in found.get(place, ())} == {}
    assert found.keys() == wanted.keys()


# Where actions are made


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def text_of(node: ast.expr) -> str:
    """Return the text of a string, or what is known of a formatted one."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "…"


def made_by_hand(module: ast.AST) -> list[str]:
    """Return the actions that are written out: as a dict, or as a call of `dict`."""
    found = []
    for node in ast.walk(module):
        values: list[ast.expr] = []
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            values = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "type"]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            values = [keyword.value for keyword in node.keywords if keyword.arg == "type"]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key = node.targets[0].slice
            values = [node.value] if isinstance(key, ast.Constant) and key.value == "type" else []
        found += [text_of(value) for value in values if ACTION_TYPE.match(text_of(value))]
    return found


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if not name(path).startswith((MAKERS, *LEGACY, "wire/"))],
    ids=name,
)
def test_actions_are_made_in_one_module(path: Path) -> None:
    assert made_by_hand(tree(path)) == []


@pytest.mark.parametrize(
    "code",
    [
        '{"type": "session/turnCancelled", "session": uri}',
        '{"session": uri, "type": f"session/{kind}"}',
        'dict(type="root/configChanged")',
        'action["type"] = "terminal/input"',
    ],
)
def test_an_action_made_by_hand_would_be_found(code: str) -> None:
    assert made_by_hand(ast.parse(code))


def test_every_action_that_is_made_has_one_place() -> None:
    files = [path for path in FILES if name(path).startswith(MAKERS)]
    made = [kind for path in files for kind in made_by_hand(tree(path))]
    assert "chat/turnStarted" in made
    # Approved and denied are two shapes of one type, and metadata may be removed.
    twice = sorted({kind for kind in made if made.count(kind) > 1})
    assert twice == ["chat/toolCallConfirmed", "session/metaChanged"]


WAY = {"act", "_apply", "append", "apply", "check", "dispatch_all", "number", "stream", "_defer"}
"""What an action goes through from whoever makes it to the journal."""


@pytest.mark.parametrize("path", [path for path in FILES if name(path).startswith("host/")], ids=name)
def test_nothing_takes_any_on_the_way_to_the_journal(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in WAY:
            for argument in (*node.args.args, *node.args.kwonlyargs):
                said = "" if argument.annotation is None else ast.unparse(argument.annotation)
                is_action = argument.arg in ("action", "actions", "wanted", "item", "kind")
                assert not (is_action and re.search(r"\b(Any|Json|JsonObject|object)\b", said)), node.name
