"""The terminal reducer: output, commands, size, owner and end."""

from typing import Any

import pytest

from building import act, command, root_act, term_act, terminal, unclassified
from reducing import reduce_terminal
from rules import rule

STRANGE = {"type": "image", "value": "?", "output": "?", "commandId": "k1"}


@rule("T1")
@pytest.mark.parametrize("data", ["hello", ""])
def test_the_first_output_opens_an_unclassified_part(data: str) -> None:
    assert reduce_terminal(terminal(), term_act("data", data=data)) == terminal(unclassified(data))


@rule("T1")
def test_output_is_added_to_the_last_unclassified_part() -> None:
    state = reduce_terminal(
        terminal(unclassified("ab")), term_act("data", data="c"), term_act("data", data="d")
    )
    assert state == terminal(unclassified("abcd"))


@rule("T1")
def test_output_is_added_to_the_last_command_while_it_is_open() -> None:
    state = reduce_terminal(terminal(command("k1", "ab")), term_act("data", data="c"))
    assert state == terminal(command("k1", "abc"))


@rule("T1")
@pytest.mark.parametrize("data", ["x", ""])
def test_output_after_a_finished_command_opens_a_part(data: str) -> None:
    last = command("k1", "ab", complete=True)
    state = reduce_terminal(terminal(last), term_act("data", data=data))
    assert state == terminal(last, unclassified(data))


@rule("T1", "G6")
def test_output_after_a_part_of_an_unknown_type_opens_a_part() -> None:
    state = reduce_terminal(terminal(STRANGE), term_act("data", data="x"))
    assert state == terminal(STRANGE, unclassified("x"))


@rule("T1")
def test_only_the_last_part_takes_output() -> None:
    state = reduce_terminal(terminal(command("k1", "a"), unclassified("b")), term_act("data", data="c"))
    assert state == terminal(command("k1", "a"), unclassified("bc"))


@rule("T1")
def test_an_open_command_behind_a_finished_one_takes_no_output() -> None:
    before = terminal(command("k1", "a"), command("k2", "b", complete=True))
    state = reduce_terminal(before, term_act("data", data="c"))
    assert state == terminal(command("k1", "a"), command("k2", "b", complete=True), unclassified("c"))


@rule("T1", "G6")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (unclassified("a", **{"x-new": 1}), unclassified("ab", **{"x-new": 1})),
        (command("k1", "a", **{"x-new": 1}), command("k1", "ab", **{"x-new": 1})),
    ],
)
def test_output_keeps_what_we_do_not_know_of_the_part(before: Any, after: Any) -> None:
    assert reduce_terminal(terminal(before), term_act("data", data="b")) == terminal(after)


@rule("T2")
def test_input_changes_nothing() -> None:
    before = terminal(command("k1", "a"))
    assert reduce_terminal(before, term_act("input", data="ls\n")) == before


@rule("T3")
def test_a_new_size_is_stored() -> None:
    state = reduce_terminal(terminal(cols=80, rows=24), term_act("resized", cols=120, rows=40))
    assert state == terminal(cols=120, rows=40)


@rule("T3")
def test_a_first_size_is_stored() -> None:
    assert reduce_terminal(terminal(), term_act("resized", cols=1, rows=2)) == terminal(cols=1, rows=2)


@rule("T4")
def test_a_claim_is_replaced_as_a_whole() -> None:
    claim = {"kind": "session", "session": "demo:/one", "turnId": "t1", "toolCallId": "c1"}
    assert reduce_terminal(terminal(), term_act("claimed", claim=claim)) == terminal(claim=claim)


@rule("T4")
def test_a_narrower_claim_loses_turn_and_call() -> None:
    wide = {"kind": "session", "session": "demo:/one", "turnId": "t1", "toolCallId": "c1"}
    narrow = {"kind": "session", "session": "demo:/one"}
    state = reduce_terminal(terminal(claim=wide), term_act("claimed", claim=narrow))
    assert state == terminal(claim=narrow)


@rule("T5")
@pytest.mark.parametrize("title", ["Build", ""])
def test_a_title_is_stored(title: str) -> None:
    assert reduce_terminal(terminal(), term_act("titleChanged", title=title)) == terminal(title=title)


@rule("T6")
def test_a_working_directory_is_stored() -> None:
    state = reduce_terminal(terminal(cwd="file:///a"), term_act("cwdChanged", cwd="file:///b"))
    assert state == terminal(cwd="file:///b")


@rule("T7", "G7")
@pytest.mark.parametrize("code", [0, 1, -9])
def test_an_exit_code_is_stored(code: int) -> None:
    state = reduce_terminal(terminal(exitCode=3), term_act("exited", exitCode=code))
    assert state == terminal(exitCode=code)


@rule("T7", "G1")
@pytest.mark.parametrize("given", [{}, {"exitCode": None}], ids=["absent", "null"])
def test_an_end_without_a_code_drops_the_old_code(given: dict[str, Any]) -> None:
    assert reduce_terminal(terminal(exitCode=3), term_act("exited", **given)) == terminal()


@rule("T7")
def test_an_end_leaves_the_content_and_open_commands() -> None:
    before = terminal(command("k1", "a"), supportsCommandDetection=True)
    state = reduce_terminal(before, term_act("exited", exitCode=1))
    assert state == terminal(command("k1", "a"), supportsCommandDetection=True, exitCode=1)


@rule("T8")
def test_clearing_empties_the_content_and_nothing_else() -> None:
    rest = {"supportsCommandDetection": True, "exitCode": 0, "cwd": "file:///a", "cols": 80, "rows": 24}
    state = reduce_terminal(terminal(unclassified("a"), command("k1"), **rest), term_act("cleared"))
    assert state == terminal(**rest)


@rule("T9")
@pytest.mark.parametrize("before", [{}, {"supportsCommandDetection": False}], ids=["absent", "false"])
def test_command_detection_is_noted(before: dict[str, Any]) -> None:
    state = reduce_terminal(terminal(unclassified("a"), **before), term_act("commandDetectionAvailable"))
    assert state == terminal(unclassified("a"), supportsCommandDetection=True)


@rule("T10")
def test_a_command_opens_a_part_and_proves_detection() -> None:
    action = term_act("commandExecuted", commandId="k1", commandLine="ls -l", timestamp=777)
    assert reduce_terminal(terminal(unclassified("$ ")), action) == terminal(
        unclassified("$ "),
        {
            "type": "command",
            "commandId": "k1",
            "commandLine": "ls -l",
            "output": "",
            "timestamp": 777,
            "isComplete": False,
        },
        supportsCommandDetection=True,
    )


@rule("T10")
def test_a_command_leaves_earlier_open_commands_open() -> None:
    action = term_act("commandExecuted", commandId="k2", commandLine="run k2", timestamp=500)
    state = reduce_terminal(terminal(command("k1", "a")), action)
    assert state["content"] == [command("k1", "a"), command("k2")]


@rule("T10")
def test_a_command_with_a_known_id_opens_another_part() -> None:
    action = term_act("commandExecuted", commandId="k1", commandLine="run k1", timestamp=500)
    state = reduce_terminal(terminal(command("k1", "a")), action)
    assert state["content"] == [command("k1", "a"), command("k1")]


@rule("T11")
def test_a_finished_command_is_complete_with_code_and_duration() -> None:
    before = terminal(command("k1", "out"))
    state = reduce_terminal(before, term_act("commandFinished", commandId="k1", exitCode=2, durationMs=30))
    assert state == terminal(command("k1", "out", complete=True, exitCode=2, durationMs=30))


@rule("T11", "G7")
def test_a_code_and_a_duration_of_zero_are_values() -> None:
    action = term_act("commandFinished", commandId="k1", exitCode=0, durationMs=0)
    state = reduce_terminal(terminal(command("k1", exitCode=1, durationMs=5)), action)
    assert state == terminal(command("k1", complete=True, exitCode=0, durationMs=0))


@rule("T11", "G1")
@pytest.mark.parametrize("given", [{}, {"exitCode": None, "durationMs": None}], ids=["absent", "null"])
def test_a_command_finished_without_values_drops_old_ones(given: dict[str, Any]) -> None:
    before = terminal(command("k1", complete=True, exitCode=1, durationMs=5))
    state = reduce_terminal(before, term_act("commandFinished", commandId="k1", **given))
    assert state == terminal(command("k1", complete=True))


@rule("T11")
def test_every_command_with_the_id_is_finished() -> None:
    before = terminal(command("k1", "a"), command("k2"), unclassified("-"), command("k1", "b"))
    state = reduce_terminal(before, term_act("commandFinished", commandId="k1", exitCode=0))
    first, second = (command("k1", out, complete=True, exitCode=0) for out in "ab")
    assert state == terminal(first, command("k2"), unclassified("-"), second)


@rule("T11")
def test_finishing_an_earlier_command_leaves_the_later_one_open() -> None:
    before = terminal(command("k1", "a"), command("k2", "b"))
    actions = term_act("commandFinished", commandId="k1"), term_act("data", data="c")
    state = reduce_terminal(before, *actions)
    assert state == terminal(command("k1", "a", complete=True), command("k2", "bc"))


@rule("T11", "G6")
def test_finishing_a_command_keeps_what_we_do_not_know_of_it() -> None:
    before = terminal(command("k1", **{"x-new": 1}), STRANGE)
    state = reduce_terminal(before, term_act("commandFinished", commandId="k1"))
    assert state == terminal(command("k1", complete=True, **{"x-new": 1}), STRANGE)


@rule("T11")
def test_finishing_an_unknown_command_changes_nothing() -> None:
    before = terminal(command("k1", "a"))
    assert reduce_terminal(before, term_act("commandFinished", commandId="k9", exitCode=1)) == before


@rule("G5")
def test_the_uri_in_the_action_is_not_looked_at() -> None:
    state = reduce_terminal(terminal(), {"type": "terminal/data", "terminal": "terminal:/two", "data": "x"})
    assert state == terminal(unclassified("x"))


@rule("G1")
def test_null_keys_of_the_state_do_not_come_back() -> None:
    nulls = {"cwd": None, "cols": None, "rows": None, "exitCode": None, "supportsCommandDetection": None}
    before = terminal(command("k1", exitCode=None, durationMs=None), **nulls)
    assert reduce_terminal(before, term_act("data", data="x")) == terminal(command("k1", "x"))


@rule("G6")
def test_what_we_do_not_know_of_a_terminal_is_kept() -> None:
    state = reduce_terminal(terminal(**{"x-new": [1]}), term_act("cleared"), term_act("data", data="x"))
    assert state == terminal(unclassified("x"), **{"x-new": [1]})


@rule("G4")
@pytest.mark.parametrize(
    "action",
    [
        term_act("somethingNew", data="x"),
        act("titleChanged", title="New"),
        root_act("terminalsChanged", terminals=[]),
    ],
    ids=lambda action: str(action["type"]),
)
def test_an_action_of_another_kind_changes_nothing(action: dict[str, Any]) -> None:
    before = terminal(command("k1", "a"), exitCode=1)
    assert reduce_terminal(before, action) == before
