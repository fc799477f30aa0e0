"""Talking at a real terminal: what is said, how it looks, how it ends."""

import re
import signal
from pathlib import Path

from cli.chat.seeing import chat

SESSION = re.compile(r"session (\w+): go on with agenthost chat --session \1", re.DOTALL)


def test_an_answer_streams_and_stays(server: str) -> None:
    with chat(server, "--agent", "demo") as seen:
        seen.wait_for("Demo · :help lists what can be done here")
        seen.wait_prompt()
        seen.say("/wait 1.5")
        seen.wait_screen("....")  # a part of it, while it goes on
        assert "Ctrl-C stops" in "\n".join(seen.screen)
        seen.wait_gone("Ctrl-C stops")
        seen.wait_prompt()
        assert [line for line in seen.lines if line.startswith("..")] == ["." * 30]
        seen.say("/think of wide 日本語 words")
        seen.wait_for("\nof wide 日本語 words")
        assert seen.style("I was asked").italics
        seen.say("/error")
        seen.wait_for("✗ this is the error that you asked for")
        assert seen.style("✗ this is").fg == "red"
        seen.say("/refuse")
        seen.wait_for("· The model refused to answer.")
        seen.wait_prompt()
        seen.leave()
        assert SESSION.search(seen.text.replace("\n", ""))
        assert seen.text.count("I was asked to say") == 1


def test_markdown_keeps_its_form_in_the_scrollback_through_a_resize(server: str) -> None:
    with chat(server, "--agent", "showman", columns=70, rows=16) as seen:
        seen.wait_prompt()
        seen.say("/document")
        seen.wait_for("Done: 你好世界.")
        seen.wait_prompt()
        assert " 1. first\n 2. second\n     • nested\n" in seen.text
        assert " 日本語      1\n" in seen.text
        seen.resize(40, 12)
        seen.say("/document")
        seen.wait(lambda seen: "in\na paragraph that is long" in seen.text, "it in the new width")
        seen.wait_prompt()
        seen.say("/lines 200")
        seen.wait_for("and the end")
        seen.wait_prompt()
        numbers = [int(found) for found in re.findall(r"^  line (\d+)$", seen.text, re.MULTILINE)]
        assert numbers == list(range(200))
        seen.leave()


def test_what_goes_on_and_what_it_cost_is_told(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as seen:
        seen.wait_prompt()
        seen.say("/usage")
        seen.wait_screen("Go on?")
        seen.say("")
        seen.wait_for("1,234 in, 56 out tokens · wool")
        assert "· The meadow is nearly empty." in seen.text
        assert "▤ image/png, 4 bytes" in seen.text
        seen.wait_prompt()
        seen.leave()


def test_ctrl_c_stops_the_turn_and_twice_leaves(server: str) -> None:
    with chat(server, "--agent", "demo") as seen:
        seen.wait_prompt()
        seen.type("typed by mistake")
        seen.wait_screen("> typed by mistake")
        seen.type("\x03")
        seen.wait_prompt()
        seen.say("/wait 60")
        seen.wait_screen("....")
        seen.say("what waits comes back")
        seen.wait_screen("queued: what waits comes back")
        seen.type("\x03")
        seen.wait_for("■ stopped")
        seen.wait_screen("> what waits comes back")
        seen.type("\x15")
        seen.wait(lambda seen: "once more leaves" not in seen.text, "the end of the moment")
        seen.say("/wait 60")
        seen.wait_screen("....")
        seen.type("\x03\x03")
        assert seen.rest() == 130
        assert SESSION.search(seen.text.replace("\n", ""))


def test_a_turn_goes_on_without_us_and_is_seen_again(server: str) -> None:
    with chat(server, "--agent", "demo") as seen:
        seen.wait_prompt()
        seen.say("/wait 3")
        seen.wait_screen("....")
        seen.leave()
        found = SESSION.search(seen.text.replace("\n", ""))
    assert found
    with chat(server, "--session", found[1][:10]) as seen:
        seen.wait_for("> /wait 3")
        seen.wait(lambda seen: "." * 60 in seen.text, "the whole answer")
        seen.wait_prompt()
        assert seen.text.count("> /wait 3") == 1
        seen.leave()


def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(server: str) -> None:
    with chat(server, "--agent", "demo") as seen:
        seen.wait_prompt()
        seen.say("hello")
        seen.wait_for("You said: hello")
        seen.process.send_signal(signal.SIGTERM)
        assert seen.rest() == 128 + signal.SIGTERM
        assert seen.raw.rindex(b"\x1b[?2004l") > seen.raw.rindex(b"\x1b[?2004h")


def test_messages_have_lines_and_are_remembered_unless_in_private(server: str, tmp_path: Path) -> None:
    with chat(server, "--agent", "demo", home=tmp_path) as seen:
        seen.wait_prompt()
        seen.type("one\x1b\rtwo\\\rthree")
        seen.wait_screen("  three")
        seen.type("\r")
        seen.wait_for("You said: one\ntwo\nthree")
        seen.wait_prompt()
        seen.type("\x1b[200~pasted\nlines\x1b[201~")
        seen.wait_screen("  lines")
        assert "You said: pasted" not in seen.text
        seen.type("\r")
        seen.wait_for("You said: pasted\nlines")
        seen.wait_prompt()
        seen.leave()
    with chat(server, "--agent", "demo", home=tmp_path) as seen:
        seen.wait_prompt()
        seen.type("\x1b[A")
        seen.wait_screen("> pasted\n  lines")
        seen.type("\x1b[A\x1b[A")
        seen.wait_screen("> one\n  two\n  three")
        seen.type("\x03\x04")
        assert seen.rest() == 0
        assert "go on with" not in seen.text  # nothing was said, so nothing is kept
    with chat(server, "--agent", "demo", "--private", home=tmp_path) as seen:
        seen.wait_prompt()
        seen.type("\x1b[Anothing there")
        seen.wait_screen("> nothing there")
        seen.type("\r")
        seen.wait_for("You said: nothing there")
        seen.leave()
    assert "nothing there" not in (tmp_path / "agenthost" / "chat-history").read_text()


def test_tab_completes_commands_of_both_kinds_and_files_which_are_sent_along(server: str) -> None:
    with chat(server, "--agent", "showman") as seen:
        seen.wait_prompt()
        seen.type(":ti\t")
        seen.wait_screen("> :title")
        seen.type("\x15see @not")
        seen.wait_screen("> see @not")
        seen.complete("> see @notes.md")
        seen.say(" please")
        seen.wait_for("1 attachments: see @notes.md please")
        assert "  + notes.md" in seen.text
        seen.say(":new demo")
        seen.wait_for("Demo · ")
        seen.type("/\t")
        seen.wait_screen("shows this list")
        seen.type("\t\t")
        seen.wait_screen("> /think")
        seen.type("\r\x15")
        seen.wait_prompt()
        seen.leave()
