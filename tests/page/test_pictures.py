"""Pictures of the page, as people see it. AGENTHOST_PICTURES=docs/images makes those of the documentation.

The fonts are the system's, so pictures of two machines differ; they are looked at by people, not compared.
"""

import os
from pathlib import Path

import pytest

from browsing import OpenTab, Tab
from journeys import answer, begin, call, dispatch, expect, fill_workspace, go_to, say, wait_idle
from picturing import keep_small, pictures_folder
from serving import serving

CODER = Path(__file__).parents[1] / "page_coder.py"
WIDE = {"width": 1280, "height": 800}
PHONE_WIDTH = 375


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Return the folder that pictures go to."""
    return pictures_folder(tmp_path)


def take(tab: Tab, path: Path) -> None:
    """Take a picture of a page that has to fit its window; one to keep has to be small too."""
    tab.page.mouse.move(0, 0)
    tab.page.screenshot(path=path, animations="disabled", caret="hide")
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    keep_small(path)


def begin_titled(tab: Tab, title: str, text: str) -> None:
    """Say something in a session with a title that a person would give it."""
    uri = begin(tab, "demo", text)
    dispatch(tab, uri, "session/titleChanged", title=title)


def fill_list(tab: Tab) -> None:
    """Make some sessions, so that the list has something to show."""
    begin_titled(tab, "Names for a boat", "Hello")
    wait_idle(tab)
    begin_titled(tab, "Plan a birthday", "/ask")
    expect(tab.page.locator("form.asking")).to_be_visible()
    begin_titled(tab, "Move to the new API", "/error")
    expect(answer(tab).locator(".failure")).to_be_visible()
    begin_titled(tab, "Translate the manual", "/wait 120")
    expect(answer(tab)).to_contain_text("..")


def test_pictures_of_the_main_views(tmp_path: Path, open_tab: OpenTab, pictures: Path) -> None:
    work = fill_workspace(tmp_path / "work")
    with serving(CODER, "--data", tmp_path / "data", "--workspace", work) as served:
        picture_all(served.wait_url(), open_tab, pictures)


def picture_chats(tab: Tab, uri: str, pictures: Path) -> None:
    """Show a session with several chats: a fork, and a side chat that waits."""
    page = tab.page
    go_to(tab, uri)
    turn = page.locator(".turn").last
    turn.hover()
    turn.get_by_role("button", name="Fork from here").click()
    expect(page.locator(".chat-source")).to_be_visible()
    page.get_by_role("navigation", name="Chats").get_by_role("link", name="Main").click()
    expect(page.locator(".chat-source")).to_have_count(0)
    page.locator(".turn .answer p").first.select_text()
    turn.hover()
    turn.get_by_role("button", name="Ask aside").click()
    expect(page.locator(".chat-source")).to_be_visible()
    say(tab, "Make the greeting test pass")
    expect(call(tab).locator(".diff")).to_be_visible()
    take(tab, pictures / "chats.png")


def picture_all(url: str, open_tab: OpenTab, pictures: Path) -> None:
    """Go through the views."""
    tab = open_tab(url, viewport=WIDE, device_scale_factor=2, color_scheme="light")
    page = tab.page
    fill_list(tab)
    tour = begin(tab, "coder", "Why is the import slow?")
    wait_idle(tab)
    coding = begin(tab, "coder", "Make the greeting test pass")
    expect(call(tab).locator(".diff")).to_be_visible()
    take(tab, pictures / "conversation.png")

    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="The wire").click()
    page.get_by_label("Filter by text").fill("toolCall")
    page.locator(".frame", has_text="toolCallReady").last.click()
    expect(page.locator(".frame-detail")).to_be_visible()
    take(tab, pictures / "wire.png")

    page.get_by_role("tab", name="Terminals").click()
    page.get_by_role("button", name="New terminal").first.click()
    expect(page.locator(".xterm-rows")).to_contain_text("$" if os.geteuid() else "#")
    page.keyboard.type("PS1='$ '; clear; ls -l --color && git --version\n")
    expect(page.locator(".xterm-rows")).to_contain_text("git version")
    go_to(tab, tour)
    take(tab, pictures / "terminals.png")

    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Close the panel").click()
    page.get_by_role("navigation").get_by_role("button", name="New session", exact=True).click()
    expect(page.get_by_role("list", name="Examples")).to_be_visible()
    take(tab, pictures / "start.png")

    page.get_by_role("button", name="Options").click()
    page.get_by_label("Model").select_option("steady")
    expect(page.get_by_label("Greeting", exact=True)).to_be_visible()
    take(tab, pictures / "create.png")

    picture_chats(tab, tour, pictures)
    page.set_viewport_size({"width": PHONE_WIDTH, "height": 740})
    go_to(tab, coding)
    expect(call(tab).get_by_role("button", name="Allow once")).to_be_in_viewport()
    take(tab, pictures / "phone.png")
