"""What people do with the page, as steps of a test."""

from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from playwright.sync_api import Locator, expect

from browsing import MILLISECONDS, Tab

__all__ = [
    "STAGE",
    "Stage",
    "answer",
    "begin",
    "call",
    "composer",
    "expect",
    "fill_workspace",
    "go_to",
    "make_session",
    "refusals",
    "say",
    "session_of",
    "shortcut",
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
    """Give the session that the address names."""
    return unquote(tab.page.url.rpartition("#/session/")[2])


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
    """Give the field that messages of a session are written in."""
    return tab.page.locator(".composer[data-session] textarea")


def say(tab: Tab, text: str) -> None:
    """Write a message, and send it with the Enter key."""
    composer(tab).fill(text)
    composer(tab).press("Enter")


def answer(tab: Tab) -> Locator:
    """Give what stands in the last turn as its answer."""
    return tab.page.locator(".turn").last.locator(".answer")


def call(tab: Tab) -> Locator:
    """Give the last tool call."""
    return tab.page.locator(".tool").last


def wait_idle(tab: Tab) -> None:
    """Wait until nothing is being answered."""
    expect(tab.page.locator(".bar [data-activity=idle]")).to_be_visible()


def refusals(tab: Tab) -> Locator:
    """Give the notices of what went wrong."""
    return tab.page.locator(".toast.error")


def shortcut(tab: Tab, key: str) -> None:
    """Leave the field that messages are written in, and press a key."""
    expect(composer(tab)).to_be_focused()
    composer(tab).press("Escape")
    tab.page.keyboard.press(key)
