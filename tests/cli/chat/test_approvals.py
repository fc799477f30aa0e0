"""Approvals at a real terminal: tool calls, results, and questions of every kind."""

from pathlib import Path
from typing import Any

from cli.chat.terminals import TerminalRun, chat

EDITOR = """#!/bin/sh
sed 's/draft/final/' "$1" > "$1.new" && mv "$1.new" "$1"
"""


def test_calls_are_allowed_denied_and_edited_with_a_key(server: str, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    with chat(server, "--agent", "demo", rows=30, EDITOR=str(editor)) as terminal:
        terminal.wait_prompt()
        terminal.say("/edit list.txt Buy milk")
        terminal.wait_screen("[y] Allow once   [s] Allow for this session   [n] Deny   [e] Edit the input")
        assert "Allow Write file?" in terminal.text
        terminal.type("n")
        terminal.wait_screen("why not")
        terminal.type("\x03")
        terminal.wait_screen("[y] Allow once")
        terminal.type("n")
        terminal.wait_screen("why not")
        terminal.say("not today")
        terminal.wait_for("✗ Write file path: list.txt, text: Buy milk: denied: not today")
        terminal.wait_for("Tool call denied: not today")
        terminal.say("/edit list.txt Buy milk")
        terminal.wait_screen("[e]")
        terminal.type("e")
        terminal.wait_screen('input: {"path":"list.txt","text":"Buy milk"}')
        terminal.type("\x7f")
        terminal.say("")
        terminal.wait_for("the input has to be JSON")
        terminal.type("\x7f" * 5)
        terminal.say('milky way"}')
        terminal.wait_for("Wrote 13 characters to list.txt.")
        terminal.wait_prompt()
        assert "+Buy milky way" in terminal.text
        assert terminal.style("+Buy milky way").fg == "green"
        terminal.say("/edit list.txt a draft")
        terminal.wait_screen("waiting for you")
        terminal.wait_screen("[e]")
        assert "-Buy milky way" in terminal.text  # the change is shown before it is made
        assert "+a draft" in terminal.text
        assert '"path"' not in terminal.text.rpartition("Allow Write file?")[2]
        terminal.type("e")
        terminal.wait_screen("input: ")
        terminal.type("\x18\x05")
        terminal.wait_screen('"text":"a final"')
        terminal.say("")
        terminal.wait_for("+a final")
        terminal.wait_prompt()
        terminal.say("/edit list.txt once")
        terminal.wait_screen("[s]")
        terminal.type("s")
        terminal.wait_for("+once")
        terminal.wait_prompt()
        terminal.say("/edit list.txt twice")  # without asking again
        terminal.wait_for("+twice")
        terminal.leave()


def test_a_command_is_shown_as_a_user_would_type_it(server: str) -> None:
    with chat(server, "--agent", "demo", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say('/call run {"command": "echo hi | tr h H"}')
        terminal.wait_screen("  $ echo hi | tr h H")
        terminal.wait_screen("[y] Allow once")
        assert "{" not in terminal.text.rpartition("Allow Run?")[2]
        terminal.type("y")
        terminal.wait_for("Hi")
        terminal.leave()


def test_typing_a_message_answers_nothing_and_several_calls_wait_together(server: str) -> None:
    with chat(server, "--agent", "demo", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say('/call add {"a": 1, "b": 1} && add {"a": 2, "b": 2} && fail')
        terminal.wait_screen("[a] Allow all 3")
        assert "Allow Add? (1 of 3)" in terminal.text
        assert all(words in terminal.text for words in ("? Add a: 1, b: 1", "? Add a: 2, b: 2", "? Fail"))
        terminal.type("x")  # not one of the keys: it starts a message
        terminal.wait_screen("send or clear what you are typing")
        terminal.type("yes")
        terminal.wait_screen("> xyes")
        terminal.type("\x15")
        terminal.wait_screen("[y]")
        terminal.type("y")
        terminal.wait_screen("(1 of 2)")
        terminal.say(":deny no failing")
        terminal.wait_for("✗ Add a: 2, b: 2: denied: no failing")
        terminal.wait_screen("Allow Fail?")
        terminal.say(":approve")
        terminal.wait_for("✗ Fail failed: this tool always fails")
        terminal.wait_for("add -> 2\nadd -> Tool call denied: no failing\nfail -> this tool always fails")
        terminal.wait_prompt()
        terminal.say("/call clock && clock")
        terminal.wait_screen("[a]")
        terminal.type("a")
        terminal.wait_for("✓ Ran Clock", 2)
        terminal.leave()


def test_typing_or_pasting_replaces_a_default_unless_it_is_edited(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as terminal:
        terminal.wait_prompt()
        terminal.say("/ask")
        terminal.wait_screen("Name:")
        terminal.say("Ann")
        terminal.wait_screen("Price: 9.5")
        assert terminal.style("9.5").reverse
        terminal.type("\x1b[200~4\x1b[201~")
        terminal.wait_screen("Price: 4")
        terminal.say("2")
        terminal.wait_screen("Count: 1")
        terminal.type("2")
        terminal.wait_screen("Count: 2")
        terminal.say("")
        terminal.wait_screen("Gift: no")
        terminal.say(":back")
        terminal.wait_screen("Count: 2")
        terminal.type("\x1b[C")  # right arrow: the default is edited
        terminal.say("5")
        terminal.wait_screen("Gift: no")
        terminal.say(":back")
        terminal.wait_screen("Count: 25")
        terminal.type("\x03")
        terminal.wait_for("cancelled")
        terminal.leave()


def test_an_error_that_ends_the_turn_is_shown_once(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say("/slip")
        terminal.wait_screen("[y]")
        terminal.type("y")
        terminal.wait_for("✗ slip failed: ValueError: no such luck")
        terminal.wait_prompt()
        assert terminal.text.lower().count("slip failed") == terminal.text.count("no such luck") == 1
        terminal.say("/slip")
        terminal.wait_screen("[y]")
        terminal.say(":deny not now")
        terminal.wait_for("denied: not now")
        terminal.wait_for("✗ Tool call denied: not now")  # says why the turn ended
        terminal.leave()


def test_a_later_call_is_counted_in_the_open_prompt(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say("/late")
        terminal.wait_screen("[y]")
        assert "Allow all" not in terminal.text
        terminal.wait_screen("Allow Dig? (1 of 2)")
        terminal.wait_screen("[a] Allow all 2")
        terminal.type("a")
        terminal.wait_for("Dug and filled.")
        terminal.leave()


def test_results_are_released_or_withheld_and_output_is_shown_live(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as terminal:
        terminal.wait_prompt()
        for key, end in (("y", "secret -> the number is 42"), ("n", "✗ Secret: result withheld")):
            terminal.say("/call secret")
            terminal.wait_screen("Allow Secret?")
            terminal.wait_screen("[y]")
            terminal.type("y")
            terminal.wait_screen("Let the agent see this result of Secret?")
            terminal.wait_screen("[y] Show it")
            assert "the number is 42" in "\n".join(terminal.screen)
            terminal.type(key)
            terminal.wait_for(end)
            terminal.wait_prompt()
        terminal.say(":new demo")
        terminal.wait_for("Demo · ")
        terminal.say('/call run {"command": "echo begun; sleep 1; seq 1 30"}')
        terminal.wait_screen("[y]")
        terminal.type("y")
        terminal.wait(_is_live, "live output")
        terminal.wait_for("… 23 more lines")
        terminal.wait_for("run -> begun")
        terminal.leave()


def _is_live(terminal: TerminalRun) -> bool:
    return any(line == "  begun" for line in terminal.screen) and "Ctrl-C stops" in "\n".join(terminal.screen)


def test_questions_of_every_kind_are_asked_until_the_answers_are_valid(server: str) -> None:
    with chat(server, "--agent", "demo", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say("/ask")
        terminal.wait_screen("What is your name? * (1 of 6)")
        terminal.wait_screen("  type some text, at most 100 characters · :back :decline, Ctrl-C cancels")
        terminal.say("")
        terminal.wait_screen("an answer is required")
        terminal.say("Ann")
        terminal.wait_screen("Price: 9.5")
        terminal.say("-1")  # replaces the suggestion
        terminal.wait_screen("must be at least 0")
        terminal.say("\x152.5")  # Ctrl-U: the invalid answer was kept
        terminal.wait_screen("Count: 1")
        terminal.say(":back")
        terminal.wait_screen("Price: 2.5")
        terminal.say("")
        terminal.wait_screen("Count: 1")
        terminal.say(":skip")
        terminal.wait_screen("Gift: no")
        terminal.say("maybe")
        terminal.wait_screen("expected y or n, found 'maybe'")
        terminal.say("\x15y")
        terminal.wait_screen("2. Green (recommended)")
        terminal.say("blue")
        terminal.wait_screen("Extras:")
        terminal.say("1, card")
        terminal.wait_for("- extras: ribbon, card".replace("- ", " • "))
        assert (
            " • name: Ann\n • price: 2.5\n • count: nothing\n • gift: yes\n • colour: blue\n" in terminal.text
        )
        assert "? Which colour? Blue" in terminal.text
        terminal.wait_prompt()
        for typed, end in (
            (":decline\r", "The questions were declined."),
            ("\x03", "The questions were cancelled."),
        ):
            terminal.say("/ask")
            terminal.wait_screen("Name:")
            terminal.type(typed)
            terminal.wait_for(end)
            terminal.wait_prompt()
        terminal.leave()


def test_edits_are_shown_before_approval_and_a_subagents_questions_are_asked_here(server: str) -> None:
    with chat(server, "--agent", "showman", rows=40) as terminal:
        terminal.wait_prompt()
        terminal.say('/call edit_file {"path": "notes.md", "old": "# Notes", "new": "# Thoughts"}')
        terminal.wait_screen("[y]")
        assert "    -# Notes\n    +# Thoughts" in terminal.text
        terminal.type("n")
        terminal.wait_screen("why not")
        terminal.say("")
        terminal.wait_for("denied")
        terminal.wait_prompt()
        terminal.say('/call demo {"task": "/call clock"}')
        terminal.wait_screen("Demo: Allow Clock?")
        terminal.wait_for("↳ Demo: ")
        terminal.wait_screen("[y]")
        terminal.type("y")
        terminal.wait_for("demo -> clock -> ")
        terminal.wait_prompt()
        terminal.say('/call demo {"task": "/ask"}')
        terminal.wait_screen("Demo: One question of each kind")
        terminal.wait_screen("Name:")
        terminal.say(":decline")
        terminal.wait_for("demo -> The questions were declined.")
        terminal.leave()


def test_answers_can_be_free_text_and_requests_can_be_links(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as terminal:
        terminal.wait_prompt()
        for typed, end in (("bl\t\r", "chosen: b"), ("pink\r", "chosen: pink")):
            terminal.say("/free")
            terminal.wait_screen("2. Blue: like the sea")
            terminal.type(typed)
            terminal.wait_for(end)
            terminal.wait_prompt()
        for key, end in (("y", "accepted"), ("n", "declineed"), ("c", "canceled")):
            terminal.say("/visit")
            terminal.wait_screen("https://id.example.org/login")
            terminal.wait_screen("[y] Done")
            terminal.type(key)
            terminal.wait_for(end)
            terminal.wait_prompt()
        terminal.leave()


def test_two_chats_share_a_session_and_the_faster_one_decides(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as one:
        one.wait_prompt()
        one.say(":info")
        one.wait_for("this client is chat-")
        name = one.text.split("session ")[1].split(":")[0]
        one.say("hello")
        one.wait_for("You said: hello")
        with chat(server, "--session", name, rows=40) as two:
            two.wait_for("You said: hello")
            two.wait_prompt()
            two.say("from the other side")
            one.wait(
                lambda terminal: _said_by_other(terminal, "from the other side"),
                "the name of the other client",
            )
            one.wait_for("You said: from the other side")
            two.wait_for("> from the other side")
            _withdrawn(one, two)
            one.say("/wait 60")
            two.wait_screen("....")
            two.type("\x03")
            one.wait_for("■ stopped by chat-")
            two.leave()
        one.leave()


def _said_by_other(terminal: TerminalRun, words: str) -> bool:
    return any(line.startswith("chat-") and line.endswith(f"> {words}") for line in terminal.lines)


def _withdrawn(one: Any, two: Any) -> None:
    one.say("/call clock")
    for terminal in (one, two):
        terminal.wait_screen("[y]")
    one.type("n")
    one.wait_screen("why not")
    two.type("y")
    one.wait_for("Clock was decided by chat-")
    one.wait_gone("why not")
    for terminal in (one, two):
        terminal.wait_for("clock -> ")
        terminal.wait_prompt()
    two.say("/ask")
    for terminal in (one, two):
        terminal.wait_screen("Name:")
    two.type("half an ans")
    one.say(":decline")
    two.wait_for("the questions were answered by chat-")
    for terminal in (one, two):
        terminal.wait_for("The questions were declined.")
        terminal.wait_prompt()
