"""A conversation in the page: what answers look like, what can be said meanwhile, and what comes along."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize

from browsing import OpenTab, Tab, opened, showing_scrollbars
from journeys import Stage, answer, begin, call, composer, expect, go_to, say, shortcut, wait_idle
from page_stage import png


def test_an_answer_is_read_as_markdown_with_its_thoughts_folded_and_its_cost(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    begin(tab, "stage", "/tour")
    wait_idle(tab)
    said = answer(tab)
    expect(said.get_by_role("heading", name="What was found")).to_be_visible()
    expect(said.get_by_role("cell", name="61 ms")).to_be_visible()
    expect(said.get_by_role("link", name="the issue")).to_have_attribute("rel", "noopener noreferrer")
    expect(said.locator(".notification")).to_have_text("The context is half full.")
    expect(said.locator(".usage")).to_have_text("12.4k in · 9,000 cached · 380 out · stage-1")
    expect(said.get_by_text("Is one of them needed")).to_have_count(0)
    said.get_by_text("Thought").click()
    expect(said.get_by_text("Is one of them needed")).to_be_visible()
    said.get_by_role("button", name="Copy code").click()
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("def read_all(path: str) -> list[str]:\n    # One pass")


HOSTILE = """\
<img src=x onerror="globalThis.hacked = 1"> <script>globalThis.hacked = 1</script>
[click](javascript:globalThis.hacked=1) ![shown](https://example.org/spy.png)
"""


def test_what_an_agent_says_is_never_more_than_text(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "stage", HOSTILE)
    wait_idle(tab)
    expect(answer(tab)).to_contain_text("<img src=x")
    expect(answer(tab).locator("img, script, a[href^=javascript]")).to_have_count(0)
    answer(tab).get_by_text("click").click()
    assert tab.run("return globalThis.hacked === undefined")


def test_a_turn_that_fails_says_why_and_one_that_is_stopped_says_so(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "/error")
    expect(answer(tab)).to_contain_text("this is the error that you asked for")
    say(tab, "/wait 60")
    expect(answer(tab)).to_contain_text("...")
    tab.page.keyboard.press("Escape")  # leaves the field
    tab.page.keyboard.press("Escape")  # stops the turn
    expect(answer(tab)).to_contain_text("Stopped.")
    wait_idle(tab)


def test_an_answer_shows_what_goes_on_and_large_things_by_reference(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "stage", "/picture")
    wait_idle(tab)
    picture = answer(tab).get_by_role("img", name="Image")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.naturalWidth") == 24
    answer(tab).get_by_role("button", name="Show").click()
    expect(answer(tab)).to_contain_text("line one")


def waiting(tab: Tab) -> list[str]:
    return tab.page.locator(".pending .text").all_inner_texts()


def test_while_a_turn_runs_messages_are_queued_reordered_removed_and_then_said(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", "/wait 60")
    go_to(other, uri)
    for text in ("first", "second", "third"):
        say(tab, text)
    for window in (tab, other):
        expect(window.page.locator(".pending li")).to_have_count(3)
    other.page.get_by_role("button", name="Move up: second").click()
    expect(tab.page.locator(".pending .text").first).to_have_text("second")
    tab.page.get_by_role("button", name="Remove: third").click()
    expect(other.page.locator(".pending li")).to_have_count(2)
    assert waiting(other) == ["second", "first"]
    tab.page.get_by_role("button", name="Edit: first").click()
    expect(composer(tab)).to_have_value("first")
    say(tab, "first, changed")
    tab.page.get_by_role("button", name="Stop").click()
    say(tab, "go on")
    expect(answer(tab)).to_contain_text("You said: first, changed")
    assert waiting(tab) == []


def test_a_running_turn_is_steered(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "stage", "/steer")
    expect(answer(tab)).to_contain_text("Waiting for a word.")
    expect(tab.page.locator(".bar .activity")).to_have_text("Listening")
    composer(tab).fill("to the left")
    composer(tab).press("Control+Enter")
    expect(answer(tab)).to_contain_text("Steered: to the left")


def test_commands_and_files_are_completed_as_they_are_typed(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab)
    field = composer(tab)
    options = tab.page.locator(".completions [role=option]")
    field.press_sequentially("/st")
    expect(options.first).to_contain_text("/stream")
    field.press("Tab")
    expect(field).to_have_value("/stream ")
    field.fill("")
    field.press_sequentially("/image of @src/a")
    expect(options).to_have_count(1)
    field.press("Enter")
    expect(field).to_have_value("/image of @src/app.py ")
    field.press("Enter")
    expect(tab.page.locator(".message .attachment")).to_have_text("src/app.py")
    field.press_sequentially("@")
    expect(options.first).to_be_visible()
    field.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Escape")
    expect(options).to_have_count(0)


PASTE = """
    const data = new DataTransfer();
    const bytes = Uint8Array.from(atob(argument), (one) => one.charCodeAt(0));
    data.items.add(new File([bytes], "pasted.png", { type: "image/png" }));
    const field = document.querySelector(".composer textarea");
    const common = { bubbles: true, cancelable: true };
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, ...common }));
    const dropped = new DataTransfer();
    dropped.items.add(new File(["some words"], "notes.txt", { type: "text/plain" }));
    field.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, ...common }));
"""


def test_images_and_files_are_pasted_dropped_and_chosen(
    stage: Stage, open_tab: OpenTab, tmp_path: Path
) -> None:
    tab = open_tab(stage.url)
    begin(tab)
    chosen = tmp_path / "chosen.png"
    chosen.write_bytes(png())
    tab.run(PASTE, base64.b64encode(png()).decode())
    tab.page.get_by_label("Files to attach").set_input_files(chosen)
    attached = tab.page.locator(".composer .attachment")
    expect(attached).to_have_count(3)
    attached.filter(has_text="notes.txt").get_by_role("button", name="Remove").click()
    expect(attached).to_have_count(2)
    say(tab, "/image")
    expect(answer(tab)).to_contain_text("2 images: 2 data")
    expect(tab.page.locator(".message .attachment img").first).to_be_visible()


def test_what_is_typed_is_kept_over_a_visit_elsewhere_and_a_reload(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    uri = begin(tab)
    composer(tab).fill("half a sen")
    other = begin(tab)
    expect(composer(tab)).to_have_value("")
    go_to(tab, uri)
    expect(composer(tab)).to_have_value("half a sen")
    tab.page.reload()
    expect(composer(tab)).to_have_value("half a sen")
    assert other != uri


WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 375, "height": 740}

LEFT = """
    const { scrollHeight, scrollTop, clientHeight } = document.querySelector(".transcript");
    return scrollHeight - scrollTop - clientHeight;
"""


@pytest.mark.parametrize("viewport", [WIDE, PHONE])
def test_typing_the_next_message_does_not_stop_the_page_from_following_the_answer(
    stage: Stage, open_tab: OpenTab, viewport: ViewportSize
) -> None:
    tab = open_tab(stage.url, viewport=viewport)
    begin(tab, "demo", "/help")
    wait_idle(tab)
    composer(tab).press_sequentially("/help ")
    composer(tab).press("Enter")
    expect(tab.page.locator(".turn")).to_have_count(2)
    wait_idle(tab)
    tab.until("document.querySelector('.turn:last-child .ending button')")
    assert tab.run(LEFT) <= 1
    expect(tab.page.get_by_role("button", name="Go to the end")).to_have_count(0)
    composer(tab).press_sequentially('/call run {"command": "true"}')
    composer(tab).press("Enter")
    expect(call(tab).get_by_role("button", name="Allow once")).to_be_in_viewport()


def test_what_moves_without_a_person_does_not_stop_the_page_from_following(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    begin(tab, "stage", "/lines 200")
    wait_idle(tab)
    tab.run("document.querySelector('.transcript').scrollTop -= 2")
    tab.run("await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame)")
    tab.run("document.querySelector('.turn:last-child .answer').append(document.createElement('hr'))")
    tab.run("await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame)")
    assert tab.run(LEFT) <= 1


def scroll_with_keys(tab: Tab) -> None:
    shortcut(tab, "t")
    tab.page.keyboard.press("PageUp")


def drag_the_scrollbar(tab: Tab) -> None:
    box = tab.page.get_by_role("region", name="Conversation").bounding_box()
    assert box
    x, y = box["x"] + box["width"] - 5, box["y"] + box["height"] - 30
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x, y - 100, steps=5)
    tab.page.mouse.up()


def drag_a_finger(tab: Tab) -> None:
    session = tab.page.context.new_cdp_session(tab.page)
    for kind, y in [("touchStart", 200), *(("touchMove", 200 + step * 10) for step in range(1, 15))]:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": 700, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.parametrize("scroll", [scroll_with_keys, drag_the_scrollbar, drag_a_finger])
def test_keys_the_scrollbar_and_a_finger_stop_the_page_from_following(
    stage: Stage, browser: Browser, scroll: Callable[[Tab], None]
) -> None:
    with showing_scrollbars(browser) as barred, opened(barred, stage.url, has_touch=True) as tab:
        tab.open()
        begin(tab, "stage", "/lines 200")
        wait_idle(tab)
        expect(answer(tab).get_by_text("That was all.")).to_be_in_viewport()
        scroll(tab)
        expect(tab.page.get_by_role("button", name="Go to the end")).to_be_visible()
        tab.until(f"(() => {{{LEFT}}})() > 20")  # a browser moves there in steps


def test_whoever_reads_further_up_is_left_there_while_more_comes(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "stage", "/lines 200")
    wait_idle(tab)
    to_end = tab.page.get_by_role("button", name="Go to the end")
    expect(answer(tab).get_by_text("That was all.")).to_be_in_viewport()
    expect(to_end).to_have_count(0)
    tab.page.get_by_role("region", name="Conversation").hover()
    tab.page.mouse.wheel(0, -15)  # a little is enough
    expect(to_end).to_be_visible()
    before = tab.run("return document.querySelector('.transcript').scrollTop")
    tab.run(
        "const said = document.querySelector('.turn:last-child .answer');"
        "said.append('one more line', document.createElement('hr'))"
    )
    tab.run("await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame)")
    assert tab.run("return document.querySelector('.transcript').scrollTop") == before
    to_end.click()
    expect(to_end).to_have_count(0)
    expect(tab.page.get_by_text("one more line")).to_be_in_viewport()
