"""The words of `host` and `core`: AHP's nouns are the model, and no protocol is named by its version."""

import re
from pathlib import Path

import pytest

from imports import PACKAGE

FILES = sorted(path for part in ("host", "core") for path in (PACKAGE / part).rglob("*.py"))

WORDS = re.compile(
    r"(?<![a-z])(aap|apps?|applications?|tool_?use|tool_?permissions?|turn_?stop|session_?start)(?![a-z])",
    re.IGNORECASE,
)
"""What AAP calls its parties, its messages and its events."""

NUMBERS = re.compile(
    r"""
    \bv\d+(_\d+)*\b            # v3, v0_1
    | \b\d+\.\d+\.\d+\b        # 0.1.0
    | \b(AHP|AAP|protocol|version)s?\s+\d
    | ["'`]\d+\.\d+["'`]       # "0.1"
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""How somebody would name the version of a protocol."""

OURS: dict[str, tuple[str, ...]] = {
    # The transcript is our own model. Its messages have the form of public histories.
    "core/transcript.py": ("ToolUse", "tool_use"),
    "core/history_import.py": ('"tool_use"', "ToolUse"),
    "core/token_estimate.py": ('"tool_use"',),
    "core/turn_transcript.py": ('"tool_use"',),
    # Types of media.
    "core/media_types.py": ('"application/pdf"',),
    "host/authoring/tool_results.py": ('"application/octet-stream"',),
    # A setting of PostgreSQL.
    "host/storage/postgres/connections.py": ("application_name",),
    "host/storage/postgres/node.py": ("application_name",),
    # The header of an SQLite file, and the versions of our own tables and files.
    "host/storage/migrations.py": (
        *("application_id", "APPLICATION_ID"),
        *("since version 1", "since version 3", "since version 4", "since version 5", "since version 6"),
        "which version 1 cannot read",
    ),
    "host/access/keys.py": ("Version 1 had no grants",),
    # What is stored for a client that is never connected; stores have these names.
    "host/state/private.py": ("app: ", "app_tools"),
    "host/lifecycle.py": ('"app", "app_tools"',),
    "host/state/further_chat.py": ('"app", "app_tools"',),
    "host/sessions/clients.py": ("`Private.app`", '"app"'),
    # The version of an agent that does not say.
    "host/authoring/agent.py": ('version: str = "0.1.0"',),
}
"""What may stand there all the same, by the file."""


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def found(path: Path, pattern: re.Pattern[str]) -> list[str]:
    """Return the lines of a file that have such a word, but for what is ours."""
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        rest = line
        for ours in OURS.get(name(path), ()):
            rest = rest.replace(ours, "")
        if pattern.search(rest):
            lines.append(f"{name(path)}:{number}: {line.strip()}")
    return lines


@pytest.mark.parametrize("path", FILES, ids=name)
def test_the_words_of_aap_stand_in_its_edge_alone(path: Path) -> None:
    assert found(path, WORDS) == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_version_of_a_protocol_is_named(path: Path) -> None:
    assert found(path, NUMBERS) == []


@pytest.mark.parametrize("file", OURS)
def test_what_is_excepted_is_still_there(file: str) -> None:
    text = (PACKAGE / file).read_text()
    assert [ours for ours in OURS[file] if ours not in text] == []


@pytest.mark.parametrize(
    "line",
    [
        "# AAP calls it so",
        "def app_id_of(session): ...",
        "the Application is told",
        'role == "tool_permission"',
        "class ToolUse:",
    ],
)
def test_such_words_would_be_found(line: str) -> None:
    assert WORDS.search(line)


@pytest.mark.parametrize(
    "line", ['VERSIONS = ["0.1.0"]', "import v0_1", "as AHP 0.1 says", 'if v == "0.1":', "v3"]
)
def test_such_numbers_would_be_found(line: str) -> None:
    assert NUMBERS.search(line)


@pytest.mark.parametrize(
    "line", ["happens", "mapped", "apply", "PAUSE = 0.1", "a multiple of 0.1", "to append"]
)
def test_ordinary_lines_pass(line: str) -> None:
    assert not WORDS.search(line)
    assert not NUMBERS.search(line)
