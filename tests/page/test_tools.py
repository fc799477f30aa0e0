"""Tool calls and questions in the page: approved, denied, changed, watched, answered."""

import json

import pytest

from browsing import OpenTab, Tab
from journeys import Stage, answer, begin, call, composer, expect, go_to, shortcut, wait_idle


def test_an_edit_is_approved_and_shown_as_a_diff(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    (stage.work / "poem.txt").write_text("roses are red\nviolets are blue\n")
    begin(tab, "demo", "/edit poem.txt roses are red\nviolets are violet\n")
    expect(call(tab)).to_contain_text("needs approval")
    diff = call(tab).locator(".diff")
    expect(diff.locator("tr.removed")).to_have_count(1)
    expect(diff.locator("tr.added mark")).to_have_text("violet")
    expect(call(tab).get_by_text('"path"')).to_be_hidden()
    assert (stage.work / "poem.txt").read_text() == "roses are red\nviolets are blue\n"
    expect(answer(tab)).to_contain_text("Waiting for you")
    shortcut(tab, "a")  # to what needs an answer
    expect(call(tab).get_by_role("button", name="Allow once")).to_be_focused()
    tab.page.keyboard.press("Enter")
    expect(call(tab)).to_have_attribute("data-status", "completed")
    expect(call(tab).locator(".tool-head")).to_be_focused()
    expect(answer(tab)).not_to_contain_text("Waiting for you")
    expect(diff.locator("tr.removed")).to_have_count(1)
    expect(diff.locator("tr.added mark")).to_have_text("violet")
    assert (stage.work / "poem.txt").read_text() == "roses are red\nviolets are violet"
    tab.page.get_by_role("button", name="Changes 1").click()
    panel = tab.page.get_by_role("tabpanel", name="Changes")
    expect(panel).to_contain_text("poem.txt")
    expect(panel.locator("tr.added")).to_have_count(1)


def test_a_call_is_denied_with_a_reason_that_the_agent_reads(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", '/call run {"command": "rm -rf build"}')
    call(tab).get_by_role("button", name="Deny with a reason").click()
    tab.page.get_by_label("Why not, for the agent").fill("build is still needed")
    tab.page.keyboard.press("Enter")
    expect(call(tab)).to_contain_text("denied")
    expect(answer(tab)).to_contain_text("build is still needed")


def test_a_command_is_shown_as_one_and_changed_before_it_is_approved(stage: Stage, open_tab: OpenTab) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", '/call run {"command": "echo wrong"}')
    go_to(other, uri)
    expect(call(other).locator(".command")).to_have_text("$echo wrong")
    call(other).get_by_role("button", name="Change the command").click()
    field = call(other).get_by_label("Command, which you may change")
    expect(field).to_be_focused()
    expect(field).to_have_value("echo wrong")
    field.fill("echo right")
    expect(call(other).get_by_role("button", name="for this session")).to_have_count(0)
    call(other).get_by_role("button", name="Allow once as changed").click()
    for window in (tab, other):
        expect(call(window)).to_have_attribute("data-status", "completed")
        expect(answer(window)).to_contain_text('The user changed the input to {"command":"echo right"}')


def test_the_input_of_a_call_is_changed_as_json_where_it_is_no_command(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "/edit here.txt hello")
    call(tab).locator("summary").click()
    call(tab).get_by_role("button", name="Change the input").click()
    field = call(tab).get_by_label("Input, which you may change")
    assert json.loads(field.input_value()) == {"path": "here.txt", "text": "hello"}
    field.fill('{"path": "there.txt", "text": "hello"}')
    call(tab).get_by_role("button", name="Allow once as changed").click()
    expect(answer(tab)).to_contain_text("Wrote 5 characters to there.txt.")
    assert not (stage.work / "here.txt").exists()


def test_several_calls_are_allowed_at_once(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", '/call add {"a": 1, "b": 1} && add {"a": 2, "b": 2} && clock')
    waiting = tab.page.get_by_role("group", name="Calls that wait")
    expect(waiting).to_contain_text("3 calls wait for you")
    tab.page.get_by_role("button", name="Deny", exact=True).last.click()
    tab.page.get_by_role("button", name="Allow all 2").click()
    wait_idle(tab)
    expect(waiting).to_have_count(0)
    expect(composer(tab)).to_be_focused()
    statuses = tab.page.locator(".tool").evaluate_all("(all) => all.map((one) => one.dataset.status)")
    assert statuses == ["completed", "completed", "cancelled"]


OVERFLOWING = """
    return [...document.querySelectorAll(".tool button, .below button")].filter((button) => {
        const [inner, outer] = [button, button.closest(".card, .composer")].map((one) =>
            one.getBoundingClientRect());
        const isOutside = inner.left < outer.left || inner.right > outer.right;
        return isOutside || button.scrollWidth > button.clientWidth;
    }).map((button) => button.textContent);
"""


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_the_buttons_of_an_approval_stay_inside_of_it(stage: Stage, open_tab: OpenTab, width: int) -> None:
    tab = open_tab(stage.url, viewport={"width": width, "height": 740})
    begin(tab, "stage", "/run for name in one two three; do echo a-rather-long-$name; done | sort | uniq -c")
    expect(call(tab).get_by_role("button", name="Allow exactly")).to_be_visible()
    assert tab.run(OVERFLOWING) == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    call(tab).get_by_role("button", name="Deny", exact=True).click()


def test_what_a_command_prints_is_seen_as_it_comes(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", '/call run {"command": "echo one; read answer; echo got $answer"}')
    call(tab).get_by_role("button", name="Allow once").click()
    expect(call(tab).locator(".peek")).to_contain_text("one")
    call(tab).get_by_role("button", name="Open terminal").click()
    screen = tab.page.locator(".xterm")
    expect(screen).to_contain_text("one")
    screen.click()
    tab.page.keyboard.type("two\n")
    expect(call(tab)).to_have_attribute("data-status", "completed")
    expect(answer(tab)).to_contain_text("got two")


def test_a_result_is_kept_back_or_handed_over(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    for button, words in (("Hand it over", "sugar: 42 kg"), ("Keep it back", "result denied")):
        begin(tab, "stage", "/weigh sugar")
        call(tab).get_by_role("button", name="Allow once").click()
        expect(call(tab)).to_contain_text("sugar: 42 kg")
        call(tab).get_by_role("button", name=button).click()
        wait_idle(tab)
        expect(answer(tab)).to_contain_text(words)


def test_a_subagent_is_a_link_to_its_session(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    child = begin(tab, "demo", "I count")
    begin(tab, "stage", f"/delegate {child}")
    call(tab).get_by_role("button", name="Allow once").click()
    call(tab).get_by_role("link", name="Count the files").click()
    expect(answer(tab)).to_contain_text("You said: I count")


def fill_in(tab: Tab) -> None:
    """Answer the demo agent's questions."""
    form = tab.page.locator("form.asking")
    form.get_by_label("Name").fill("Ada")
    form.get_by_label("Count").fill("3")
    form.get_by_role("group", name="Gift").get_by_label("Yes").check()
    form.get_by_label("Green").check()
    form.get_by_label("card").check()
    form.get_by_label("box").check()


def test_questions_of_every_kind_are_answered_in_a_form(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "/ask")
    form = tab.page.locator("form.asking")
    form.get_by_label("Count").fill("three")
    form.get_by_role("button", name="Answer").click()
    expect(form.locator(".problem")).to_have_text(["This has to be answered.", "That is not a number."])
    expect(form.get_by_label("Name")).to_be_focused()
    fill_in(tab)
    form.get_by_label("ribbon").check()
    form.get_by_role("button", name="Answer").click()
    expect(form.locator(".problem")).to_have_text(["Choose at most 2; 3 are chosen."])
    form.get_by_label("ribbon").uncheck()
    form.get_by_role("button", name="Answer").click()
    wait_idle(tab)
    expect(answer(tab).get_by_role("listitem")).to_have_text(
        ["name: Ada", "price: 9.5", "count: 3", "gift: yes", "colour: green", "extras: card, box"]
    )
    asked = answer(tab).get_by_role("region", name="Questions")
    expect(asked).to_contain_text("answered")
    expect(asked.locator("dd")).to_have_text(["Ada", "9.5", "3", "Yes", "Green", "card, box"])


def test_two_boxes_that_are_ticked_at_once_are_both_ticked(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "/ask")
    form = tab.page.locator("form.asking")
    expect(form.get_by_label("box")).to_be_visible()
    # In one task: the page has no chance to draw between the two.
    form.evaluate(
        """form => ["card", "box"].forEach(name => [...form.querySelectorAll("label.choice")]
            .find(label => label.textContent.trim().startsWith(name)).querySelector("input").click())"""
    )
    expect(form.get_by_label("card")).to_be_checked()
    expect(form.get_by_label("box")).to_be_checked()


@pytest.mark.parametrize("height", [480, 740])
def test_answer_and_decline_are_in_sight_however_long_the_questions_are(
    stage: Stage, open_tab: OpenTab, height: int
) -> None:
    tab = open_tab(stage.url, viewport={"width": 375, "height": height})
    begin(tab, "demo", "/ask")
    form = tab.page.locator("form.asking")
    for name in ("Answer", "Decline"):
        expect(form.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(answer(tab)).to_contain_text("Waiting for you")
    form.get_by_label("box").scroll_into_view_if_needed()
    for name in ("Answer", "Decline"):
        expect(form.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(composer(tab)).to_be_in_viewport(ratio=1)
    form.get_by_role("button", name="Decline").click()
    expect(answer(tab)).not_to_contain_text("Waiting for you")


def test_drafts_of_answers_are_seen_in_the_other_window_and_can_be_sent_from_there(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", "/ask")
    go_to(other, uri)
    fill_in(tab)
    form = other.page.locator("form.asking")
    expect(form.get_by_label("Name")).to_have_value("Ada")
    expect(form.get_by_label("Green")).to_be_checked()
    form.get_by_label("Name").fill("Ada L.")
    tab.page.locator("form.asking").get_by_label("Count").focus()
    expect(tab.page.locator("form.asking").get_by_label("Name")).to_have_value("Ada L.")
    # What does not fit is no draft for others, but stays where it was chosen.
    expect(form.get_by_label("card")).to_be_checked()
    tab.page.locator("form.asking").get_by_label("ribbon").check()
    tab.page.locator("form.asking").get_by_label("Name").focus()
    expect(form.get_by_label("card")).not_to_be_checked()
    for label in ("card", "box", "ribbon"):
        expect(tab.page.locator("form.asking").get_by_label(label)).to_be_checked()
    form.get_by_label("ribbon").check()
    form.get_by_role("button", name="Answer").click()
    expect(tab.page.locator("form.asking")).to_have_count(0)
    expect(answer(tab)).to_contain_text("name: Ada L.")


def test_questions_are_declined_have_links_and_take_other_answers(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    form = tab.page.locator("form.asking")
    begin(tab, "demo", "/ask")
    form.get_by_role("button", name="Decline").click()
    expect(answer(tab)).to_contain_text("The questions were declined.")
    begin(tab, "stage", "/link")
    expect(form.get_by_role("link")).to_have_attribute("href", "https://example.org/login")
    form.get_by_role("button", name="Done").click()
    expect(answer(tab)).to_contain_text("accept")
    begin(tab, "stage", "/choose")
    form.get_by_label("Something else").fill("green")
    form.get_by_label("ribbon").check()
    form.get_by_label("Others, with commas between").fill("bow, note")
    form.get_by_label("Where to?").fill("ada@example.org")
    form.get_by_role("button", name="Answer").click()
    expect(answer(tab)).to_contain_text("ada@example.org")
    expect(answer(tab)).to_contain_text("green ['ribbon', 'bow', 'note']")
