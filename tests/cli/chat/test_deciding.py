"""Deciding at a real terminal: tool calls by one key, results, questions of every kind."""

from pathlib import Path
from typing import Any

from cli.chat.seeing import Seen, chat

EDITOR = """#!/bin/sh
sed 's/draft/final/' "$1" > "$1.new" && mv "$1.new" "$1"
"""


def test_calls_are_allowed_denied_and_edited_by_a_key(server: str, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    with chat(server, "--agent", "demo", rows=30, EDITOR=str(editor)) as seen:
        seen.wait_prompt()
        seen.say("/edit list.txt Buy milk")
        seen.wait_screen("[y] Allow once   [s] Allow for this session   [n] Deny   [e] Edit the input")
        assert "Allow Write file?" in seen.text
        seen.type("n")
        seen.wait_screen("why not")
        seen.type("\x03")
        seen.wait_screen("[y] Allow once")
        seen.type("n")
        seen.wait_screen("why not")
        seen.say("not today")
        seen.wait_for("✗ Write file path: list.txt, text: Buy milk: denied: not today")
        seen.wait_for("Tool call denied: not today")
        seen.say("/edit list.txt Buy milk")
        seen.wait_screen("[e]")
        seen.type("e")
        seen.wait_screen('input: {"path":"list.txt","text":"Buy milk"}')
        seen.type("\x7f")
        seen.say("")
        seen.wait_for("the input has to stay JSON")
        seen.type("\x7f" * 5)
        seen.say('milky way"}')
        seen.wait_for("Wrote 13 characters to list.txt.")
        seen.wait_prompt()
        assert "+Buy milky way" in seen.text
        assert seen.style("+Buy milky way").fg == "green"
        seen.say("/edit list.txt a draft")
        seen.wait_screen("waiting for you")
        seen.wait_screen("[e]")
        assert "-Buy milky way" in seen.text  # the change, before it is made
        assert "+a draft" in seen.text
        assert '"path"' not in seen.text.rpartition("Allow Write file?")[2]
        seen.type("e")
        seen.wait_screen("input: ")
        seen.type("\x18\x05")
        seen.wait_screen('"text":"a final"')
        seen.say("")
        seen.wait_for("+a final")
        seen.wait_prompt()
        seen.say("/edit list.txt once")
        seen.wait_screen("[s]")
        seen.type("s")
        seen.wait_for("+once")
        seen.wait_prompt()
        seen.say("/edit list.txt twice")  # nobody is asked any more
        seen.wait_for("+twice")
        seen.leave()


def test_a_command_is_asked_for_as_people_type_it(server: str) -> None:
    with chat(server, "--agent", "demo", rows=30) as seen:
        seen.wait_prompt()
        seen.say('/call run {"command": "echo hi | tr h H"}')
        seen.wait_screen("  $ echo hi | tr h H")
        seen.wait_screen("[y] Allow once")
        assert "{" not in seen.text.rpartition("Allow Run?")[2]
        seen.type("y")
        seen.wait_for("Hi")
        seen.leave()


def test_what_is_being_typed_is_no_answer_and_several_calls_wait_together(server: str) -> None:
    with chat(server, "--agent", "demo", rows=30) as seen:
        seen.wait_prompt()
        seen.say('/call add {"a": 1, "b": 1} && add {"a": 2, "b": 2} && fail')
        seen.wait_screen("[a] Allow all 3")
        assert "Allow Add? (1 of 3)" in seen.text
        assert all(words in seen.text for words in ("? Add a: 1, b: 1", "? Add a: 2, b: 2", "? Fail"))
        seen.type("x")  # no key of the question: it begins a message
        seen.wait_screen("send or clear what you are typing")
        seen.type("yes")
        seen.wait_screen("> xyes")
        seen.type("\x15")
        seen.wait_screen("[y]")
        seen.type("y")
        seen.wait_screen("(1 of 2)")
        seen.say(":deny no failing")
        seen.wait_for("✗ Add a: 2, b: 2: denied: no failing")
        seen.wait_screen("Allow Fail?")
        seen.say(":approve")
        seen.wait_for("✗ Fail failed: this tool always fails")
        seen.wait_for("add -> 2\nadd -> Tool call denied: no failing\nfail -> this tool always fails")
        seen.wait_prompt()
        seen.say("/call clock && clock")
        seen.wait_screen("[a]")
        seen.type("a")
        seen.wait_for("✓ Ran Clock", 2)
        seen.leave()


def test_what_is_typed_or_pasted_takes_the_place_of_a_default_unless_that_is_edited(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as seen:
        seen.wait_prompt()
        seen.say("/ask")
        seen.wait_screen("Name:")
        seen.say("Ann")
        seen.wait_screen("Price: 9.5")
        assert seen.style("9.5").reverse
        seen.type("\x1b[200~4\x1b[201~")
        seen.wait_screen("Price: 4")
        seen.say("2")
        seen.wait_screen("Count: 1")
        seen.type("2")
        seen.wait_screen("Count: 2")
        seen.say("")
        seen.wait_screen("Gift: no")
        seen.say(":back")
        seen.wait_screen("Count: 2")
        seen.type("\x1b[C")  # the right arrow: it is edited
        seen.say("5")
        seen.wait_screen("Gift: no")
        seen.say(":back")
        seen.wait_screen("Count: 25")
        seen.type("\x03")
        seen.wait_for("cancelled")
        seen.leave()


def test_an_error_that_ends_the_turn_is_shown_once(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as seen:
        seen.wait_prompt()
        seen.say("/slip")
        seen.wait_screen("[y]")
        seen.type("y")
        seen.wait_for("✗ slip failed: ValueError: no such luck")
        seen.wait_prompt()
        assert seen.text.lower().count("slip failed") == seen.text.count("no such luck") == 1
        seen.say("/slip")
        seen.wait_screen("[y]")
        seen.say(":deny not now")
        seen.wait_for("denied: not now")
        seen.wait_for("✗ Tool call denied: not now")  # that the turn ended for it is told
        seen.leave()


def test_a_call_that_comes_later_is_counted_in_the_question_that_is_open(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as seen:
        seen.wait_prompt()
        seen.say("/late")
        seen.wait_screen("[y]")
        assert "Allow all" not in seen.text
        seen.wait_screen("Allow Dig? (1 of 2)")
        seen.wait_screen("[a] Allow all 2")
        seen.type("a")
        seen.wait_for("Dug and filled.")
        seen.leave()


def test_results_wait_to_be_seen_and_outputs_are_shown_as_they_come(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as seen:
        seen.wait_prompt()
        for key, end in (("y", "secret -> the number is 42"), ("n", "✗ Secret: its result was withheld")):
            seen.say("/call secret")
            seen.wait_screen("Allow Secret?")
            seen.wait_screen("[y]")
            seen.type("y")
            seen.wait_screen("Let the agent see this result of Secret?")
            seen.wait_screen("[y] Let it see")
            assert "the number is 42" in "\n".join(seen.screen)
            seen.type(key)
            seen.wait_for(end)
            seen.wait_prompt()
        seen.say(":new demo")
        seen.wait_for("Demo · ")
        seen.say('/call run {"command": "echo begun; sleep 1; seq 1 30"}')
        seen.wait_screen("[y]")
        seen.type("y")
        seen.wait(_is_live, "live output")
        seen.wait_for("… 23 more lines")
        seen.wait_for("run -> begun")
        seen.leave()


def _is_live(seen: Seen) -> bool:
    return any(line == "  begun" for line in seen.screen) and "Ctrl-C stops" in "\n".join(seen.screen)


def test_questions_of_every_kind_are_asked_until_the_answers_fit(server: str) -> None:
    with chat(server, "--agent", "demo", rows=30) as seen:
        seen.wait_prompt()
        seen.say("/ask")
        seen.wait_screen("What is your name? * (1 of 6)")
        seen.say("")
        seen.wait_screen("this one has to be answered")
        seen.say("Ann")
        seen.wait_screen("Price: 9.5")
        seen.say("-1")  # in place of what is suggested
        seen.wait_screen("must be at least 0")
        seen.say("\x152.5")  # what was typed stays, to be changed
        seen.wait_screen("Count: 1")
        seen.say(":back")
        seen.wait_screen("Price: 2.5")
        seen.say("")
        seen.wait_screen("Count: 1")
        seen.say(":skip")
        seen.wait_screen("Gift: no")
        seen.say("maybe")
        seen.wait_screen("that takes y or n, not 'maybe'")
        seen.say("\x15y")
        seen.wait_screen("2. Green (recommended)")
        seen.say("blue")
        seen.wait_screen("Extras:")
        seen.say("1, card")
        seen.wait_for("- extras: ribbon, card".replace("- ", " • "))
        assert " • name: Ann\n • price: 2.5\n • count: nothing\n • gift: yes\n • colour: blue\n" in seen.text
        assert "? Which colour? Blue" in seen.text
        seen.wait_prompt()
        for typed, end in (
            (":decline\r", "The questions were declined."),
            ("\x03", "The questions were cancelled."),
        ):
            seen.say("/ask")
            seen.wait_screen("Name:")
            seen.type(typed)
            seen.wait_for(end)
            seen.wait_prompt()
        seen.leave()


def test_what_a_call_would_change_is_shown_and_what_a_subagent_asks_is_asked_here(server: str) -> None:
    with chat(server, "--agent", "showman", rows=40) as seen:
        seen.wait_prompt()
        seen.say('/call edit_file {"path": "notes.md", "old": "# Notes", "new": "# Thoughts"}')
        seen.wait_screen("[y]")
        assert "    -# Notes\n    +# Thoughts" in seen.text
        seen.type("n")
        seen.wait_screen("why not")
        seen.say("")
        seen.wait_for("denied")
        seen.wait_prompt()
        seen.say('/call demo {"task": "/call clock"}')
        seen.wait_screen("Demo: Allow Clock?")
        seen.wait_for("↳ Demo: ")
        seen.wait_screen("[y]")
        seen.type("y")
        seen.wait_for("demo -> clock -> ")
        seen.wait_prompt()
        seen.say('/call demo {"task": "/ask"}')
        seen.wait_screen("Demo: One question of each kind")
        seen.wait_screen("Name:")
        seen.say(":decline")
        seen.wait_for("demo -> The questions were declined.")
        seen.leave()


def test_free_answers_and_visits(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as seen:
        seen.wait_prompt()
        for typed, end in (("bl\t\r", "chosen: b"), ("pink\r", "chosen: pink")):
            seen.say("/free")
            seen.wait_screen("2. Blue: like the sea")
            seen.type(typed)
            seen.wait_for(end)
            seen.wait_prompt()
        for key, end in (("y", "accepted"), ("n", "declineed"), ("c", "canceled")):
            seen.say("/visit")
            seen.wait_screen("https://id.example.org/login")
            seen.wait_screen("[y] Done")
            seen.type(key)
            seen.wait_for(end)
            seen.wait_prompt()
        seen.leave()


def test_two_chats_share_a_session_and_the_quicker_one_decides(server: str) -> None:
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
            one.wait(lambda seen: _said_by_other(seen, "from the other side"), "who said it")
            one.wait_for("You said: from the other side")
            two.wait_for("> from the other side")
            _withdrawn(one, two)
            one.say("/wait 60")
            two.wait_screen("....")
            two.type("\x03")
            one.wait_for("■ stopped by chat-")
            two.leave()
        one.leave()


def _said_by_other(seen: Seen, words: str) -> bool:
    return any(line.startswith("chat-") and line.endswith(f"> {words}") for line in seen.lines)


def _withdrawn(one: Any, two: Any) -> None:
    one.say("/call clock")
    for seen in (one, two):
        seen.wait_screen("[y]")
    one.type("n")
    one.wait_screen("why not")
    two.type("y")
    one.wait_for("Clock was decided by chat-")
    one.wait_gone("why not")
    for seen in (one, two):
        seen.wait_for("clock -> ")
        seen.wait_prompt()
    two.say("/ask")
    for seen in (one, two):
        seen.wait_screen("Name:")
    two.type("half an ans")
    one.say(":decline")
    two.wait_for("the questions were answered by chat-")
    for seen in (one, two):
        seen.wait_for("The questions were declined.")
        seen.wait_prompt()
