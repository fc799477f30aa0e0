"""The chat's own commands, and switching between sessions."""

from pathlib import Path

from cli.chat.terminals import TerminalRun, chat


def read_session_id(terminal: TerminalRun) -> str:
    terminal.say(":info")
    terminal.wait_for("this client is chat-")
    return terminal.text.split("session ")[1].split(":")[0]


def test_commands_are_told_apart_from_messages_and_explained(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as terminal:
        terminal.wait_prompt()
        terminal.say(":help")
        terminal.wait_for("Commands that begin with / are the agent's")
        assert "  :attach FILE | -            attaches a file to the next message" in terminal.text
        terminal.say(":titel")
        terminal.wait_for("there is no command :titel; did you mean :title?")
        for typed, said in ((":-)", ":-)"), ("::quit", ":quit"), ("/hlep", "/hlep")):
            terminal.say(typed)
            terminal.wait_for(f"You said: {said}")
            terminal.wait_prompt()
        terminal.say(":title A better   name")
        terminal.wait_for("the title is: A better name")
        terminal.say(":model")
        terminal.wait_for("forgetful: Forgetful")
        terminal.say(":model steady pause=short")
        terminal.wait_for("the model is steady from the next message on")
        terminal.say(":model unheard-of")
        terminal.wait_for("✗ there is no model 'unheard-of'")
        terminal.say(":set")
        terminal.wait_for("style = plain: Style (plain, loud)")
        terminal.say(":set style=loud")
        terminal.wait_for("style is now loud")
        terminal.say("hello")
        terminal.wait_for("YOU SAID: HELLO")
        terminal.wait_prompt()
        for typed, sentence in (
            (":set style", "expected NAME=VALUE, found 'style'"),
            (":steer", "expected a message: :steer TEXT"),
            (":unqueue", "no message is queued"),
            (":approve", "no call is waiting for you"),
            (":deny", "no call is waiting for you"),
            (":history x", "expected a number of turns, found 'x'"),
            (":attach /no/such/file", "there is no file '/no/such/file'"),
            (":agent nobody", "there is no agent"),
            (":sessions zzzzz", "there is no session 'zzzzz'"),
        ):
            terminal.say(typed)
            terminal.wait_for(f"✗ {sentence}")
        terminal.say(":quit")
        assert terminal.wait_exit() == 0


def test_a_session_is_continued_by_its_id_its_number_or_as_the_newest(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as terminal:
        terminal.wait_prompt()
        for number in range(7):
            terminal.say(f"number {number}")
            terminal.wait_for(f"You said: number {number}")
            terminal.wait_prompt()
        first = read_session_id(terminal)
        terminal.say(":new")
        terminal.wait_for("Demo · ", 2)
        terminal.say("in the second")
        terminal.wait_for("You said: in the second")
        terminal.wait_prompt()
        terminal.say(":sessions")
        terminal.wait_screen("which one (number or id, Enter to stay)?")
        assert "1. in the second (demo, just now)" in terminal.text
        assert "← here" in terminal.text
        terminal.say("2")
        terminal.wait_for("Demo · number 0 · ")
        terminal.wait_for("… 2 earlier turns")
        terminal.wait_prompt()
        terminal.say(":history 7")
        terminal.wait_for("You said: number 0", 2)
        terminal.say("newest now")
        terminal.wait_for("You said: newest now")
        terminal.leave()
    with chat(server, "--continue") as terminal:
        terminal.wait_for("You said: newest now")
        assert "… 3 earlier turns" in terminal.text
        assert read_session_id(terminal) == first
        terminal.leave()


def test_messages_are_queued_or_steer_the_turn(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say("/steer")
        terminal.wait_screen("Go on?")
        terminal.type("\x03")
        terminal.wait_for("not steered")
        terminal.wait_prompt()
        terminal.leave()
    with chat(server, "--agent", "demo", rows=30) as terminal:
        terminal.wait_prompt()
        terminal.say("/wait 2")
        terminal.wait_screen("...")
        terminal.say("first")
        terminal.wait_screen("queued: first")
        terminal.say("second")
        terminal.wait_screen("queued: second")
        terminal.say(":steer faster")
        terminal.wait_screen("steering: faster")
        terminal.say(":unqueue")
        terminal.wait_screen("> second")
        terminal.type("\x15")
        terminal.wait_for("You said: first")
        terminal.wait_prompt()
        assert "You said: second" not in terminal.text
        terminal.leave()


def test_files_are_sent_with_the_next_message(server: str, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with chat(server, "--agent", "demo") as terminal:
        terminal.wait_prompt()
        terminal.say(f":attach {tmp_path}/a.png")
        terminal.wait_for("attached to the next message: a.png")
        terminal.say(":attach -")
        terminal.wait_for("attached to the next message: none")
        terminal.say(f":attach {tmp_path}/a.png")
        terminal.wait_for("attached to the next message: a.png", 2)
        terminal.say("/image")
        terminal.wait_for("1 image: 1 data")
        assert "  + a.png" in terminal.text
        terminal.leave()


def test_the_user_chooses_among_several_agents(server: str) -> None:
    with chat(server) as terminal:
        terminal.wait_screen("which agent?")
        terminal.type("\x03")
        assert terminal.wait_exit() == 130
    with chat(server) as terminal:
        terminal.wait_screen("which agent?")
        assert "showman: Show what the demo agent does not do." in terminal.text
        terminal.say("show\t")
        terminal.wait_for("Showman · ")
        terminal.say(":agent")
        terminal.wait_for("demo: Demo.")
        terminal.wait_for("← here")
        terminal.say(":agent demo")
        terminal.wait_for("Demo · ")
        terminal.leave()
