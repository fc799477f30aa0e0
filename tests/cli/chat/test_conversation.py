"""Conversations at a real terminal: what is shown, and how they end."""

import re
import signal
from pathlib import Path

from cli.chat.terminals import chat

SESSION = re.compile(r"session (\w+): continue with agenthost chat --session \1", re.DOTALL)


def test_an_answer_streams_and_stays(server: str) -> None:
    with chat(server, "--agent", "demo") as terminal:
        terminal.wait_for("Demo · :help lists the commands")
        terminal.wait_prompt()
        terminal.say("/wait 1.5")
        terminal.wait_screen("....")  # a part of it, while it streams
        assert "Ctrl-C stops" in "\n".join(terminal.screen)
        terminal.wait_gone("Ctrl-C stops")
        terminal.wait_prompt()
        assert [line for line in terminal.lines if line.startswith("..")] == ["." * 30]
        terminal.say("/think of wide 日本語 words")
        terminal.wait_for("\nof wide 日本語 words")
        assert terminal.style("I was asked").italics
        terminal.say("/error")
        terminal.wait_for("✗ this is the error that you asked for")
        assert terminal.style("✗ this is").fg == "red"
        terminal.say("/refuse")
        terminal.wait_for("· The model refused to answer.")
        terminal.wait_prompt()
        terminal.leave()
        assert SESSION.search(terminal.text.replace("\n", ""))
        assert terminal.text.count("I was asked to say") == 1


def test_markdown_in_the_scrollback_survives_a_resize(server: str) -> None:
    with chat(server, "--agent", "showman", columns=70, rows=16) as terminal:
        terminal.wait_prompt()
        terminal.say("/document")
        terminal.wait_for("Done: 你好世界.")
        terminal.wait_prompt()
        assert " 1. first\n 2. second\n     • nested\n" in terminal.text
        assert " 日本語      1\n" in terminal.text
        terminal.resize(40, 12)
        terminal.say("/document")
        terminal.wait(
            lambda terminal: "in\na paragraph that is long" in terminal.text, "the text in the new width"
        )
        terminal.wait_prompt()
        terminal.say("/lines 200")
        terminal.wait_for("and the end")
        terminal.wait_prompt()
        numbers = [int(found) for found in re.findall(r"^  line (\d+)$", terminal.text, re.MULTILINE)]
        assert numbers == list(range(200))
        terminal.leave()


def test_usage_notices_and_content_are_shown(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say("/usage")
        terminal.wait_screen("Go on?")
        terminal.say("")
        terminal.wait_for("1,234 in, 56 out tokens · wool")
        assert "· The meadow is nearly empty." in terminal.text
        assert "▤ image/png, 4 bytes" in terminal.text
        terminal.wait_prompt()
        terminal.leave()


def test_ctrl_c_stops_the_turn_and_a_second_one_leaves(server: str) -> None:
    with chat(server, "--agent", "demo") as terminal:
        terminal.wait_prompt()
        terminal.type("typed by mistake")
        terminal.wait_screen("> typed by mistake")
        terminal.type("\x03")
        terminal.wait_prompt()
        terminal.say("/wait 60")
        terminal.wait_screen("....")
        terminal.say("what waits comes back")
        terminal.wait_screen("queued: what waits comes back")
        terminal.type("\x03")
        terminal.wait_for("■ stopped")
        terminal.wait_screen("> what waits comes back")
        terminal.type("\x15")
        terminal.wait(lambda terminal: "again to leave" not in terminal.text, "the end of the hint")
        terminal.say("/wait 60")
        terminal.wait_screen("....")
        terminal.type("\x03\x03")
        assert terminal.wait_exit() == 130
        assert SESSION.search(terminal.text.replace("\n", ""))


def test_a_turn_runs_on_after_leaving_and_is_shown_again(server: str) -> None:
    with chat(server, "--agent", "demo") as terminal:
        terminal.wait_prompt()
        terminal.say("/wait 3")
        terminal.wait_screen("....")
        terminal.leave()
        found = SESSION.search(terminal.text.replace("\n", ""))
    assert found
    with chat(server, "--session", found[1][:10]) as terminal:
        terminal.wait_for("> /wait 3")
        terminal.wait(lambda terminal: "." * 60 in terminal.text, "the whole answer")
        terminal.wait_prompt()
        assert terminal.text.count("> /wait 3") == 1
        terminal.leave()


def test_a_signal_ends_the_chat_and_restores_the_terminal(server: str) -> None:
    with chat(server, "--agent", "demo") as terminal:
        terminal.wait_prompt()
        terminal.say("hello")
        terminal.wait_for("You said: hello")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_exit() == 128 + signal.SIGTERM
        assert terminal.raw.rindex(b"\x1b[?2004l") > terminal.raw.rindex(b"\x1b[?2004h")


def test_messages_can_have_several_lines_and_are_remembered_unless_private(
    server: str, tmp_path: Path
) -> None:
    with chat(server, "--agent", "demo", home=tmp_path) as terminal:
        terminal.wait_prompt()
        terminal.type("one\x1b\rtwo\\\rthree")
        terminal.wait_screen("  three")
        terminal.type("\r")
        terminal.wait_for("You said: one\ntwo\nthree")
        terminal.wait_prompt()
        terminal.type("\x1b[200~pasted\nlines\x1b[201~")
        terminal.wait_screen("  lines")
        assert "You said: pasted" not in terminal.text
        terminal.type("\r")
        terminal.wait_for("You said: pasted\nlines")
        terminal.wait_prompt()
        terminal.leave()
    with chat(server, "--agent", "demo", home=tmp_path) as terminal:
        terminal.wait_prompt()
        terminal.type("\x1b[A")
        terminal.wait_screen("> pasted\n  lines")
        terminal.type("\x1b[A\x1b[A")
        terminal.wait_screen("> one\n  two\n  three")
        terminal.type("\x03\x04")
        assert terminal.wait_exit() == 0
        assert "continue with" not in terminal.text  # no message, so the session is not kept
    with chat(server, "--agent", "demo", "--private", home=tmp_path) as terminal:
        terminal.wait_prompt()
        terminal.type("\x1b[Anothing there")
        terminal.wait_screen("> nothing there")
        terminal.type("\r")
        terminal.wait_for("You said: nothing there")
        terminal.leave()
    assert "nothing there" not in (tmp_path / "agenthost" / "chat-history").read_text()


def test_tab_completes_both_kinds_of_commands_and_files_which_are_attached(server: str) -> None:
    with chat(server, "--agent", "showman") as terminal:
        terminal.wait_prompt()
        terminal.type(":ti\t")
        terminal.wait_screen("> :title")
        terminal.type("\x15see @not")
        terminal.wait_screen("> see @not")
        terminal.complete("> see @notes.md")
        terminal.say(" please")
        terminal.wait_for("1 attachments: see @notes.md please")
        assert "  + notes.md" in terminal.text
        terminal.say(":new demo")
        terminal.wait_for("Demo · ")
        terminal.type("/\t")
        terminal.wait_screen("shows this list")
        terminal.type("\t\t")
        terminal.wait_screen("> /think")
        terminal.type("\r\x15")
        terminal.wait_prompt()
        terminal.leave()
