"""The terminal reducer: output, commands, size, owner and end."""

from typing import Any

import pytest

from building import command, unclassified
from chat_building import session_act, terminal, terminal_act
from folding import changes_nothing, fold_terminal
from rules import rule

Json = dict[str, Any]
STRANGE = {"type": "image", "value": "?", "output": "?", "commandId": "k1"}


def data(text: str = "x") -> Json:
    return terminal_act("data", data=text)


@rule("1.0/TM1")
@pytest.mark.parametrize(
    ("last", "grown"),
    [
        (unclassified("a", **{"x-new": 1}), unclassified("axy", **{"x-new": 1})),
        (command("k", "a"), command("k", "axy")),
    ],
)
def test_output_is_added_to_an_open_part(last: Json, grown: Json) -> None:
    assert fold_terminal(terminal(STRANGE, last), data(), data("y")) == terminal(STRANGE, grown)


@rule("1.0/TM1")
@pytest.mark.parametrize(
    "last", [[], [command("k", "a", complete=True)], [STRANGE]], ids=["none", "done", "odd"]
)
def test_output_opens_a_part_otherwise(last: list[Json]) -> None:
    assert fold_terminal(terminal(*last), data(""), data()) == terminal(*last, unclassified("x"))


@rule("1.0/TM2")
def test_input_changes_nothing() -> None:
    assert changes_nothing("terminal", terminal(), terminal_act("input", data="ls"))


@rule("1.0/TM3", "1.0/TM4", "1.0/TM5", "1.0/TM6")
@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("resized", {"cols": 120, "rows": 40}),
        ("claimed", {"claim": {"kind": "session", "session": "demo:/one"}}),
        ("titleChanged", {"title": ""}),
        ("cwdChanged", {"cwd": "file:///b"}),
    ],
)
def test_what_is_said_of_a_terminal_is_stored(name: str, fields: Json) -> None:
    before = terminal(cols=80, rows=24, cwd="file:///a")
    assert fold_terminal(before, terminal_act(name, **fields)) == {**before, **fields}


@rule("1.0/TM7", "1.0/G1")
@pytest.mark.parametrize(
    ("given", "code"), [({"exitCode": 0}, {"exitCode": 0}), ({}, {}), ({"exitCode": None}, {})]
)
def test_the_life_of_a_terminal_ends_with_a_code_or_without(given: Json, code: Json) -> None:
    state = fold_terminal(terminal(command("k")), terminal_act("exited", **given))
    assert state == terminal(command("k"), lifecycle={"status": "exited", **code})


@rule("1.0/TM8")
def test_clearing_empties_the_content_and_nothing_else() -> None:
    state = fold_terminal(terminal(unclassified("a"), supportsCommandDetection=True), terminal_act("cleared"))
    assert state == terminal(supportsCommandDetection=True)


@rule("1.0/TM9", "1.0/TM10")
def test_a_command_opens_a_part_and_proves_detection() -> None:
    assert fold_terminal(terminal(), terminal_act("commandDetectionAvailable")) == terminal(
        supportsCommandDetection=True
    )
    run = terminal_act("commandExecuted", commandId="k2", commandLine="run k2", timestamp=500)
    state = fold_terminal(terminal(command("k1", "a")), run)
    assert state == terminal(command("k1", "a"), command("k2"), supportsCommandDetection=True)


@rule("1.0/TM11")
def test_every_command_with_the_id_is_finished() -> None:
    before = terminal(
        command("k1"), command("k2", exitCode=1), STRANGE, command("k1", exitCode=1, durationMs=1)
    )
    state = fold_terminal(before, terminal_act("commandFinished", commandId="k1", exitCode=0))
    done = command("k1", complete=True, exitCode=0)
    assert state == terminal(done, command("k2", exitCode=1), STRANGE, done)
    assert changes_nothing("terminal", before, terminal_act("commandFinished", commandId="zz"))


@rule("1.0/G3")
def test_an_action_of_another_kind_changes_nothing() -> None:
    actions = terminal_act("somethingNew"), session_act("titleChanged", title="New")
    assert changes_nothing("terminal", terminal(), *actions)
