"""Several chats of a session at the terminal."""

from agenthost.client.ahp import AhpClient, Session
from cli.chat.terminals import TerminalRun, chat
from hosting import run


def converse(terminal: TerminalRun, *messages: str) -> None:
    for text in messages:
        terminal.say(text)
        terminal.wait_for(f"You said: {text}")
        terminal.wait_prompt()


def switch(terminal: TerminalRun, typed: str, words: str, times: int = 1) -> None:
    """Type a command that leads to another chat, and wait until that is greeted."""
    terminal.say(typed)
    terminal.wait_for(words, times)
    terminal.wait_prompt()


def test_chats_are_begun_listed_switched_and_deleted(server: str) -> None:
    with chat(server, "--agent", "demo", rows=60, columns=100) as terminal:
        terminal.wait_prompt()
        converse(terminal, "in the first")
        switch(terminal, ":chats new in the second", "Demo · in the first · chat: in the second")
        terminal.wait_for("You said: in the second")
        terminal.wait_prompt()
        converse(terminal, "more of it")
        terminal.say(":chats")
        terminal.wait_screen("which one (number, Enter to stay)?")
        assert "  1. in the first\n  2. in the second ← here" in terminal.text
        switch(terminal, "1", "Demo · in the first · 2 chats")
        terminal.say(":chats 1")
        terminal.wait_for("✗ you are already in that chat")
        terminal.say(":chats delete")
        terminal.wait_for("✗ this is the first chat of the session, and stays as long as the session does")
        terminal.say(":chats 3")
        terminal.wait_for("✗ there is no chat 3; there are 2")
        terminal.say(":chats what")
        terminal.wait_for("✗ expected a number, or one of new, fork, side, delete; found 'what'")

        switch(terminal, ":chats 2", "chat: in the second", 2)
        terminal.say(":chats delete")
        terminal.wait_screen("delete the chat 'in the second' for good? [y/N]")
        terminal.say("n")
        terminal.wait_prompt()
        converse(terminal, "still here")
        terminal.say(":chats delete")
        terminal.wait_screen("for good? [y/N]")
        switch(terminal, "y", "the chat 'in the second' was deleted")
        terminal.wait_for("Demo · in the first · :help")
        assert "no longer exists" not in terminal.text
        terminal.leave()
        assert "session " in terminal.text


def test_a_chat_is_forked_and_asked_aside(server: str) -> None:
    with chat(server, "--agent", "demo", rows=60, columns=100) as terminal:
        terminal.wait_prompt()
        terminal.say(":chats fork")
        terminal.wait_for("✗ nothing was said here so far")
        converse(terminal, "one", "two")
        switch(terminal, ":chats fork 1", "Demo · one · chat: one")
        terminal.wait_for("You said: one", 2)
        assert terminal.text.count("You said: two") == 1
        terminal.say(":chats fork 9")
        terminal.wait_for("✗ this chat has 1 turn so far")
        terminal.say(":chats fork x")
        terminal.wait_for("✗ expected how many turns to leave out, found 'x'")
        switch(terminal, ":chats side why?", "chat: why?")
        terminal.wait_for("You said: why?")
        terminal.wait_prompt()
        terminal.say(":chats")
        terminal.wait_screen("which one")
        assert "  1. one\n  2. one (fork)\n  3. why? (side chat) ← here" in terminal.text
        terminal.type("\r")
        terminal.wait_prompt()
        terminal.say(":chats delete 2")
        terminal.wait_screen("delete the chat 'one' for good? [y/N]")
        terminal.say("y")
        terminal.wait_for("the chat 'one' was deleted")
        converse(terminal, "still in the side chat")
        terminal.leave()


def test_another_chat_that_waits_is_announced_and_answered_there(server: str) -> None:
    with chat(server, "--agent", "demo", rows=60, columns=100) as terminal:
        terminal.wait_prompt()
        converse(terminal, "first")
        switch(terminal, ":chats new", "chat: ")
        terminal.say("/edit later.txt text")
        terminal.wait_screen("[y]")
        terminal.say(":chats 1")
        terminal.wait_for("Demo · first · 2 chats")
        terminal.wait_for(":chats 2 switches to it")
        switch(terminal, "hello", "You said: hello")
        terminal.say(":chats 2")
        terminal.wait_screen("[y]")
        terminal.type("y")
        terminal.wait_for("Wrote 4 characters to later.txt.")
        terminal.wait_prompt()
        terminal.say(":changes")
        terminal.wait_for("1 file +1 -0")
        terminal.wait_for("+text", 2)
        terminal.leave()


def test_a_chat_that_somebody_else_deletes_gives_way_to_the_first(server: str) -> None:
    uris: list[str] = []

    async def delete() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            await client.sessions.load()
            uri = max(client.sessions, key=lambda one: one["modifiedAt"])["resource"]
            session: Session = await client.session(uri)
            uris.append(session.chats[1]["resource"])
            await (await session.chat(uris[0])).dispose()

    with chat(server, "--agent", "demo", rows=60, columns=100) as terminal:
        terminal.wait_prompt()
        converse(terminal, "the first")
        switch(terminal, ":chats new the second", "You said: the second")
        run(delete)
        terminal.wait_for("✗ this chat no longer exists; here is the first one of its session")
        terminal.wait_prompt()
        converse(terminal, "back again")
        terminal.leave()


def test_the_words_of_the_command_are_completed_and_explained(server: str) -> None:
    with chat(server, "--agent", "demo", rows=60, columns=100) as terminal:
        terminal.wait_prompt()
        terminal.type(":chats d\t")
        terminal.wait_screen("> :chats delete")
        terminal.type("\x15")
        terminal.say(":help")
        terminal.wait_for("  :chats fork [NUMBER]        continues in another chat, without the last turns")
        terminal.say(":changes")
        terminal.wait_for("✗ there is no changeset: no file was changed so far")
        terminal.leave()
