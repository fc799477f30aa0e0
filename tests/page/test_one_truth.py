"""The page drives a session together with clients of AHP 1.0, 0.9 and 0.1 and an application of AAP."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import urlsplit

from browsing import MILLISECONDS, OpenTab, Tab
from driving import NAMES, Drivers, said
from journeys import Stage, answer, begin, call, chat_of, composer, expect, go_to, refusals, say
from serving import serving

URI = "demo:/shared"
ROUNDS = 3

PATIENCE = 1_000
"""How often is looked whether somebody has heard what the page said."""

FASTER = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  if (text.includes("chat/turnStarted")) {
    WebSocket.prototype.send = send;
    const message = JSON.parse(text);
    message.params.action.turnId = "faster";
    message.params.action.message.text = "/wait 60";
    message.params.clientSeq = 0;
    send.call(this, JSON.stringify(message));
  }
  return send.call(this, text);
};
"""
"""Somebody else's turn begins just before the next one of the page."""


class Crew:
    """The other clients, in a thread with a loop of their own. Use as a context manager."""

    def __init__(self) -> None:
        self.drivers = Drivers(URI)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.drivers.leave())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def begin(self, story: Coroutine[Any, Any, Any]) -> Callable[[], Any]:
        """Let something happen. What is returned waits for it."""
        return asyncio.run_coroutine_threadsafe(story, self._loop).result

    def run(self, story: Coroutine[Any, Any, Any]) -> None:
        """Let something happen, and wait for it."""
        self.begin(story)()


def states_of(tab: Tab, chat: str) -> Any:
    """Return what the page has of the session and its chat."""
    script = "return [client.session(argument[0]).state.value, client.chat(argument[1]).state.value]"
    return tab.run(script, [URI, chat])


def insist(tab: Tab, crew: Crew, text: str) -> None:
    """Say something; again, if another client was faster, as the text is in the composer then."""
    say(tab, text)
    for _ in range(PATIENCE):
        if text in json.dumps(crew.drivers.new.chat(URI)):
            return
        if composer(tab).input_value() == text:
            composer(tab).press("Enter")
        tab.page.wait_for_timeout(MILLISECONDS / PATIENCE)
    raise AssertionError(f"{text} was lost")


def check(tab: Tab, crew: Crew, count: int) -> None:
    """Check that all have the same, the page included: in what it keeps, and on the screen."""
    crew.run(crew.drivers.wait_turns(count))
    crew.run(crew.drivers.wait_read())  # the page says so
    crew.run(crew.drivers.check())
    session, chat = crew.drivers.new.state(URI), crew.drivers.new.chat(URI)
    name = chat_of(tab, URI)
    tab.until("client.chat(argument[0]).state.value.turns.length === argument[1]", [name, count])
    found = states_of(tab, name)
    assert found[0] == session
    assert found[1] == chat
    expect(answer(tab)).to_contain_text(said(chat["turns"][-1]))


def test_the_page_and_clients_of_every_protocol_drive_one_session(tmp_path: Path, open_tab: OpenTab) -> None:
    work = tmp_path / "work"
    work.mkdir()
    options = ("--data", tmp_path / "data", "--workspace", work)
    count = (len(NAMES) + 1) * ROUNDS
    with Crew() as crew:
        with serving(*options) as served:
            url = served.wait_url()
            crew.run(crew.drivers.join(url))
            tab = open_tab(url)
            go_to(tab, URI)
            driven = crew.begin(crew.drivers.drive(ROUNDS, others=ROUNDS))
            for number in range(ROUNDS):
                insist(tab, crew, f"Hello {number} from the page")
            driven()
            check(tab, crew, count)
            texts = [said(turn) for turn in crew.drivers.new.chat(URI)["turns"]]
            assert all(f"You said: Hello {number} from the page" in texts for number in range(ROUNDS))
            say(tab, "/edit last.txt at last")
            crew.run(crew.drivers.wait_call())
            crew.run(crew.drivers.leave())
            tab.forgive("WebSocket connection to|ERR_CONNECTION_REFUSED")
            served.process.kill()
            served.process.wait()
        with serving(*options, f"--port={urlsplit(url).port}") as served:
            url = served.wait_url()
            crew.run(crew.drivers.come_back(url))
            tab.wait("connected")
            call(tab).get_by_role("button", name="Allow once").click()
            check(tab, crew, count + 1)
            assert (work / "last.txt").read_text() == "at last"
            crew.run(crew.drivers.leave())


def test_a_message_stays_in_the_composer_if_another_client_was_faster(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo")
    tab.run(FASTER)
    say(tab, "And now this")
    expect(refusals(tab)).to_contain_text("turn")
    expect(composer(tab)).to_have_value("And now this")
    tab.page.get_by_role("button", name="Stop").click()
    expect(answer(tab)).to_contain_text("Stopped.")
    composer(tab).press("Enter")
    expect(answer(tab)).to_contain_text("You said: And now this")
