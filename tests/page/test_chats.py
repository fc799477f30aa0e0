"""Several chats of a session in the page, and what they have changed."""

import re
from urllib.parse import quote

from playwright.sync_api import Locator

from browsing import OpenTab, Tab
from journeys import (
    Stage,
    answer,
    begin,
    chat_of,
    composer,
    dispatch,
    expect,
    go_to,
    make_session,
    refusals,
    say,
    session_of,
    shortcut,
    turn_started,
    wait_idle,
)

PHONE = {"width": 375, "height": 740}


def row(tab: Tab) -> Locator:
    """Return the chats of the session that is shown."""
    return tab.page.get_by_role("navigation", name="Chats").get_by_role("link")


def choose(tab: Tab, name: str) -> None:
    """Choose something of the menu of the session."""
    tab.page.get_by_role("button", name="Session", exact=True).click()
    tab.page.get_by_role("menuitem", name=name, exact=True).click()


def turn_of(tab: Tab, text: str) -> Locator:
    found = tab.page.locator(".turn", has_text=text)
    found.hover()
    return found


def new_chat(tab: Tab, text: str) -> None:
    """Begin a chat of the session that is shown, from its menu."""
    choose(tab, "New chat")
    tab.page.wait_for_url("**/new")
    expect(composer(tab)).to_be_focused()
    say(tab, text)
    tab.page.wait_for_url("**/ahp-chat*")
    expect(answer(tab)).to_contain_text(f"You said: {text}")
    wait_idle(tab)


def edit(tab: Tab, name: str, text: str) -> None:
    """Let the agent write a file."""
    say(tab, f"/edit {name} {text}")
    tab.page.get_by_role("button", name="Allow once").click()
    expect(answer(tab)).to_contain_text(f"to {name}.")
    wait_idle(tab)


def test_chats_are_begun_switched_and_deleted(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    uri = begin(tab, "demo", "in the first")
    expect(answer(tab)).to_contain_text("You said: in the first")
    wait_idle(tab)
    expect(row(tab)).to_have_count(0)
    new_chat(tab, "in the second")
    expect(row(tab)).to_have_text(["Main", "in the second"])
    expect(row(tab).nth(1)).to_have_attribute("aria-current", "page")
    expect(page.locator(".turn")).to_have_count(1)
    second = page.url

    row(tab).first.click()
    expect(answer(tab)).to_contain_text("You said: in the first")
    assert session_of(tab) == uri
    expect(page.get_by_role("button", name=re.compile("Delete the chat"))).to_have_count(0)
    page.get_by_role("button", name="Session", exact=True).click()
    expect(page.get_by_role("menuitem", name="Delete chat")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New chat").click()
    expect(row(tab)).to_have_text(["Main", "in the second", "New chat"])
    page.get_by_role("button", name="Do not begin a chat").click()
    expect(row(tab)).to_have_count(2)
    page.get_by_role("button", name="New chat").click()
    page.wait_for_url("**/new")
    expect(composer(tab)).to_be_focused()
    say(tab, "in the third")
    expect(answer(tab)).to_contain_text("You said: in the third")
    expect(row(tab)).to_have_count(3)

    other = open_tab(stage.url)
    other.page.goto(second)  # a link to a chat
    expect(answer(other)).to_contain_text("You said: in the second")
    other.page.get_by_role("button", name=re.compile("Delete the chat")).click()
    dialog = other.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    expect(row(other)).to_have_count(3)
    other.page.get_by_role("button", name=re.compile("Delete the chat")).click()
    dialog.get_by_role("button", name="Delete").click()
    expect(answer(other)).to_contain_text("You said: in the first")
    for window in (tab, other):
        expect(row(window)).to_have_count(2)
    expect(refusals(other)).to_have_count(0)
    other.page.goto(second)
    expect(other.page.get_by_text("This chat is not there.")).to_be_visible()
    other.page.get_by_role("link", name="Go to the session").click()
    expect(answer(other)).to_contain_text("You said: in the first")


def test_a_fork_and_a_side_chat_say_where_they_come_from(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    begin(tab, "demo", "the first words")
    expect(answer(tab)).to_contain_text("You said: the first words")
    wait_idle(tab)
    say(tab, "the last words")
    expect(answer(tab)).to_contain_text("You said: the last words")
    wait_idle(tab)
    turn_of(tab, "You said: the first words").get_by_role("button", name="Fork from here").click()
    expect(page.locator(".chat-source")).to_have_text("Fork of Main")
    expect(page.locator(".turn")).to_have_count(1)
    page.locator(".chat-source").get_by_role("link", name="Main").click()
    expect(page.locator(".turn")).to_have_count(2)
    wait_idle(tab)  # what is drawn again loses its selection

    words = page.locator(".turn .answer p").first
    words.select_text()
    turn_of(tab, "You said: the first words").get_by_role("button", name="Ask aside").click()
    expect(page.locator(".chat-source")).to_have_text("Side chat about MainYou said: the first words")
    expect(page.locator(".turn")).to_have_count(0)
    say(tab, "/history")
    expect(answer(tab)).to_contain_text("4")  # what was said before, the selection, and this message
    expect(page.locator(".chat-source")).to_have_text("Side chat about MainYou said: the first words")
    wait_idle(tab)
    expect(row(tab).last).to_have_text("/history")
    choose(tab, "Ask aside")
    expect(page.locator(".chat-source")).to_have_text("Side chat about /history")
    say(tab, "and why?")
    expect(answer(tab)).to_contain_text("You said: and why?")
    expect(row(tab)).to_have_count(4)


def test_the_row_says_what_the_other_chats_are_doing(stage: Stage, open_tab: OpenTab) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", "first")
    wait_idle(tab)
    new_chat(tab, "second")
    row(tab).first.click()
    expect(answer(tab)).to_contain_text("You said: first")
    go_to(other, uri)
    chat = tab.run("return client.session(argument).state.value.chats[1].resource", uri)
    dispatch(tab, chat, "chat/turnStarted", **turn_started("/edit later.txt text", "t"))
    for window in (tab, other):
        expect(row(window).nth(1)).to_contain_text("needs input")
        expect(window.page.get_by_role("main").get_by_role("status")).to_have_text(
            "The chat second needs input"
        )
    row(tab).nth(1).click()
    tab.page.get_by_role("button", name="Deny", exact=True).click()
    expect(row(other).nth(1)).not_to_contain_text("needs input")
    # Changes since it was last opened here are unread.
    row(tab).first.click()
    expect(answer(tab)).to_contain_text("You said: first")
    dispatch(tab, chat, "chat/turnStarted", **turn_started("more", "u"))
    expect(row(tab).nth(1)).to_contain_text("unread")
    row(tab).nth(1).click()
    expect(answer(tab)).to_contain_text("You said: more")
    row(tab).first.click()
    expect(row(tab).nth(1)).not_to_contain_text("unread")


def test_chats_are_reached_with_the_keyboard_alone(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    begin(tab, "demo", "first")
    wait_idle(tab)
    new_chat(tab, "second")
    shortcut(tab, "h")
    expect(answer(tab)).to_contain_text("You said: first")
    page.keyboard.press("h")
    expect(answer(tab)).to_contain_text("You said: first")
    page.keyboard.press("l")
    expect(answer(tab)).to_contain_text("You said: second")
    assert row(tab).evaluate_all("(all) => all.map((one) => one.tabIndex)") == [-1, 0]
    row(tab).nth(1).focus()
    page.keyboard.press("ArrowLeft")
    expect(row(tab).first).to_be_focused()
    page.keyboard.press("Enter")
    expect(answer(tab)).to_contain_text("You said: first")


def test_changed_files_are_counted_and_shown_by_chat_and_by_turn(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    line = page.locator(".changes-line")
    begin(tab, "demo", "first")
    wait_idle(tab)
    expect(line).to_have_count(0)
    edit(tab, "one.txt", "text")
    expect(line).to_have_text("1 file +1 \u22120")
    edit(tab, "two.txt", "more")
    expect(line).to_have_text("2 files +2 \u22120")
    line.get_by_role("button").click()
    edits = page.locator(".dock .edit")
    expect(edits).to_have_count(2)
    expect(edits.first.locator(".diff")).to_contain_text("text")
    page.get_by_label("Changes of").select_option(label="/edit two.txt more")
    expect(edits).to_have_count(1)
    expect(edits).to_contain_text("two.txt")

    new_chat(tab, "second")
    expect(line).to_have_count(0)
    expect(page.locator(".dock")).to_contain_text("This chat has changed no files.")
    edit(tab, "three.txt", "here")
    expect(line).to_have_text("1 file +1 \u22120")
    expect(edits).to_have_count(1)
    expect(edits).to_contain_text("three.txt")
    row(tab).first.click()
    expect(line).to_have_text("2 files +2 \u22120")
    expect(edits).to_have_count(2)


def test_on_a_phone_the_chats_scroll_and_the_changes_fill_the_screen(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url, viewport=PHONE, has_touch=True)
    page = tab.page
    uri = make_session(tab)
    chat = chat_of(tab, uri)
    dispatch(tab, chat, "chat/turnStarted", **turn_started("/edit small.txt text", "t"))
    page.goto(f"{stage.url}#/session/{quote(uri, safe='')}")
    page.get_by_role("button", name="Allow once").click()
    wait_idle(tab)
    message = "{ text: 'A long title, and more of it', origin: { kind: 'user' } }"
    for _ in range(5):
        tab.run(f"await client.createChat(argument, {{ initialMessage: {message} }})", uri)
    expect(row(tab)).to_have_count(6)
    row(tab).last.click()
    expect(answer(tab)).to_contain_text("You said: A long title")
    expect(row(tab).last).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{stage.url}#/session/{quote(uri, safe='')}")
    page.locator(".changes-line button").click()
    expect(page.locator(".dock .edit")).to_contain_text("small.txt")
