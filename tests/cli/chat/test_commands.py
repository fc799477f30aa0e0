"""The chat's own commands, and going from one session to another."""

from pathlib import Path

from cli.chat.seeing import Seen, chat


def name_of(seen: Seen) -> str:
    seen.say(":info")
    seen.wait_for("this client is chat-")
    return seen.text.split("session ")[1].split(":")[0]


def test_commands_are_told_from_messages_and_explained(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as seen:
        seen.wait_prompt()
        seen.say(":help")
        seen.wait_for("What begins with / is the agent's own")
        assert "  :attach FILE | -            sends a file with the next message" in seen.text
        seen.say(":titel")
        seen.wait_for("there is no command :titel; did you mean :title?")
        for typed, said in ((":-)", ":-)"), ("::quit", ":quit"), ("/hlep", "/hlep")):
            seen.say(typed)
            seen.wait_for(f"You said: {said}")
            seen.wait_prompt()
        seen.say(":title A better   name")
        seen.wait_for("the title is: A better name")
        seen.say(":model")
        seen.wait_for("forgetful: Forgetful")
        seen.say(":model steady pause=short")
        seen.wait_for("the model is now steady")
        seen.say(":model unheard-of")
        seen.wait_for("✗ there is no model 'unheard-of'")
        seen.say(":set")
        seen.wait_for("style = plain: Style (plain, loud)")
        seen.say(":set style=loud")
        seen.wait_for("style is now loud")
        seen.say("hello")
        seen.wait_for("YOU SAID: HELLO")
        seen.wait_prompt()
        for typed, sentence in (
            (":set style", "expected NAME=VALUE, found 'style'"),
            (":steer", "what is it to be told? :steer TEXT"),
            (":unqueue", "no message waits"),
            (":approve", "no call waits for you"),
            (":deny", "no call waits for you"),
            (":history x", "expected how many turns, found 'x'"),
            (":attach /no/such/file", "there is no file '/no/such/file'"),
            (":agent nobody", "there is no agent"),
            (":sessions zzzzz", "there is no session 'zzzzz'"),
        ):
            seen.say(typed)
            seen.wait_for(f"✗ {sentence}")
        seen.say(":quit")
        assert seen.rest() == 0


def test_sessions_are_gone_on_with_by_name_by_number_and_as_the_newest(server: str) -> None:
    with chat(server, "--agent", "demo", rows=40) as seen:
        seen.wait_prompt()
        for number in range(7):
            seen.say(f"number {number}")
            seen.wait_for(f"You said: number {number}")
            seen.wait_prompt()
        first = name_of(seen)
        seen.say(":new")
        seen.wait_for("Demo · ", 2)
        seen.say("in the second")
        seen.wait_for("You said: in the second")
        seen.wait_prompt()
        seen.say(":sessions")
        seen.wait_screen("which (number or name, Enter stays)?")
        assert "1. in the second (demo, just now)" in seen.text
        assert "← here" in seen.text
        seen.say("2")
        seen.wait_for("Demo · number 0 · ")
        seen.wait_for("… 2 earlier turns")
        seen.wait_prompt()
        seen.say(":history 7")
        seen.wait_for("You said: number 0", 2)
        seen.say("newest now")
        seen.wait_for("You said: newest now")
        seen.leave()
    with chat(server, "--continue") as seen:
        seen.wait_for("You said: newest now")
        assert "… 3 earlier turns" in seen.text
        assert name_of(seen) == first
        seen.leave()


def test_messages_wait_for_their_turn_or_steer_it(server: str) -> None:
    with chat(server, "--agent", "showman", rows=30) as seen:
        seen.wait_prompt()
        seen.say("/steer")
        seen.wait_screen("Go on?")
        seen.type("\x03")
        seen.wait_for("not steered")
        seen.wait_prompt()
        seen.leave()
    with chat(server, "--agent", "demo", rows=30) as seen:
        seen.wait_prompt()
        seen.say("/wait 2")
        seen.wait_screen("...")
        seen.say("first")
        seen.wait_screen("queued: first")
        seen.say("second")
        seen.wait_screen("queued: second")
        seen.say(":steer faster")
        seen.wait_screen("steers: faster")
        seen.say(":unqueue")
        seen.wait_screen("> second")
        seen.type("\x15")
        seen.wait_for("You said: first")
        seen.wait_prompt()
        assert "You said: second" not in seen.text
        seen.leave()


def test_files_go_with_the_next_message(server: str, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with chat(server, "--agent", "demo") as seen:
        seen.wait_prompt()
        seen.say(f":attach {tmp_path}/a.png")
        seen.wait_for("with the next message: a.png")
        seen.say(":attach -")
        seen.wait_for("with the next message: none")
        seen.say(f":attach {tmp_path}/a.png")
        seen.wait_for("with the next message: a.png", 2)
        seen.say("/image")
        seen.wait_for("1 image: 1 data")
        assert "  + a.png" in seen.text
        seen.leave()


def test_an_agent_is_chosen_where_there_are_several(server: str) -> None:
    with chat(server) as seen:
        seen.wait_screen("which agent?")
        seen.type("\x03")
        assert seen.rest() == 130
    with chat(server) as seen:
        seen.wait_screen("which agent?")
        assert "showman: Show what the demo agent does not do." in seen.text
        seen.say("show\t")
        seen.wait_for("Showman · ")
        seen.say(":agent")
        seen.wait_for("demo: Demo.")
        seen.wait_for("← here")
        seen.say(":agent demo")
        seen.wait_for("Demo · ")
        seen.leave()
