"""What people do with the page, as steps of a test."""

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from playwright.sync_api import Locator, expect

from browsing import MILLISECONDS, Tab

__all__ = [
    "STAGE",
    "Stage",
    "answer",
    "begin",
    "call",
    "chat_of",
    "composer",
    "dispatch",
    "expect",
    "fill_workspace",
    "go_to",
    "make_session",
    "refusals",
    "say",
    "session_of",
    "shortcut",
    "turn_started",
    "wait_idle",
]

expect.set_options(timeout=MILLISECONDS)  # as long as all else may take, on a machine that is busy

STAGE = Path(__file__).parent / "page_stage.py"
"""The agents of the journeys."""

APP = """\
def main() -> None:
    print("hello")
    return None


if __name__ == "__main__":
    main()
"""


class Stage(NamedTuple):
    """A server with the agents of the journeys, and the folder that they work in."""

    url: str
    work: Path


def fill_workspace(work: Path) -> Path:
    """Put some files into a folder."""
    (work / "src").mkdir(parents=True)
    (work / "src" / "app.py").write_text(APP)
    (work / "README.md").write_text("# A project\n\nSome words.\n")
    return work


def session_of(tab: Tab) -> str:
    """Return the session that the address names, whichever of its chats is shown."""
    return unquote(tab.page.url.rpartition("#/session/")[2].partition("/")[0])


def chat_of(tab: Tab, uri: str) -> str:
    """Return the chat that a session begins with; from then on, the page watches both."""
    tab.until("client.session(argument).state.value?.defaultChat", uri)
    chat: str = tab.run("return client.session(argument).state.value.defaultChat", uri)
    tab.until("client.chat(argument).state.value", chat)
    return chat


def dispatch(tab: Tab, channel: str, kind: str, **fields: Any) -> None:
    """Let something happen on a channel without a click; returns when the host has taken it."""
    script = "await client.dispatch(argument.channel, argument.action)"
    tab.run(script, {"channel": channel, "action": {"type": kind, **fields}})


def turn_started(text: str, turn: str) -> dict[str, Any]:
    """Return the fields of the action that starts a turn."""
    message = {"text": text, "origin": {"kind": "user"}}
    return {"turnId": turn, "startedAt": "2026-01-01T00:00:00.000Z", "message": message}


def make_session(tab: Tab, agent: str = "demo", **params: object) -> str:
    """Make a session without a form."""
    uri: str = tab.run("return await client.createSession(argument)", {"provider": agent, **params})
    return uri


def go_to(tab: Tab, uri: str) -> None:
    """Open a session."""
    tab.run("location.hash = argument", f"#/session/{quote(uri, safe='')}")
    expect(tab.page.locator(f'.composer[data-session="{uri}"] textarea')).to_be_enabled()


def begin(tab: Tab, agent: str = "demo", text: str = "") -> str:
    """Make a session, open it, and say something in it."""
    uri = make_session(tab, agent)
    go_to(tab, uri)
    if text:
        say(tab, text)
    return uri


def composer(tab: Tab) -> Locator:
    """Return the field that messages of a session are written in."""
    return tab.page.locator(".composer[data-session] textarea")


def say(tab: Tab, text: str) -> None:
    """Write a message, and send it with the Enter key."""
    composer(tab).fill(text)
    composer(tab).press("Enter")


def answer(tab: Tab) -> Locator:
    """Return what stands in the last turn as its answer."""
    return tab.page.locator(".turn").last.locator(".answer")


def call(tab: Tab) -> Locator:
    """Return the last tool call."""
    return tab.page.locator(".tool").last


def wait_idle(tab: Tab) -> None:
    """Wait until nothing is being answered."""
    expect(tab.page.locator(".bar [data-activity=idle]")).to_be_visible()


def refusals(tab: Tab) -> Locator:
    """Return the notices of what went wrong."""
    return tab.page.locator(".toast.error")


def shortcut(tab: Tab, key: str) -> None:
    """Leave the field that messages are written in, and press a key."""
    expect(composer(tab)).to_be_focused()
    composer(tab).press("Escape")
    tab.page.keyboard.press(key)
