"""How smooth the page is: while much streams in, in long sessions, and with many messages on the wire."""

from browsing import OpenTab, Tab
from journeys import Stage, answer, begin, composer, expect, go_to, say, shortcut, wait_idle
from tracing import traced

LONGEST_FRAME = 100
"""In milliseconds: how long a frame may take that nobody should notice."""

TURNS = 500


def test_a_turn_of_five_thousand_pieces_streams_without_a_long_frame(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "warm up")
    wait_idle(tab)
    for agent, text in (("demo", "/stream 5000"), ("stage", "/lines 5000")):
        begin(tab, agent)
        with traced(tab) as trace:
            say(tab, text)
            tab.until("document.querySelector('.turn article')?.getAttribute('aria-busy') === 'false'")
        assert max(trace.tasks) < LONGEST_FRAME
    expect(answer(tab)).to_contain_text("line 4999 of a long answer")
    # It kept to the end.
    expect(answer(tab).get_by_text("That was all.")).to_be_in_viewport()


def import_history(tab: Tab) -> str:
    """Make a session that has many turns already, over the other protocol."""
    messages = []
    for number in range(TURNS):
        text = f"## Answer {number}\n\nSome **words** on `it`.\n\n```python\nprint({number})\n```\n"
        messages += [
            {"role": "user", "content": f"Question {number}"},
            {"role": "assistant", "content": text},
        ]
    made = tab.run(
        "const made = await fetch('/aap/sessions', { method: 'POST', body: JSON.stringify(argument) });"
        "return (await made.json()).sessionId",
        {"agent": {"name": "demo"}, "messages": messages},
    )
    return f"demo:/{made}"


def test_a_session_of_five_hundred_turns_opens_and_goes_on_as_a_short_one_does(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "warm up")
    wait_idle(tab)
    uri = import_history(tab)
    with traced(tab) as opening:
        go_to(tab, uri)
        expect(answer(tab).get_by_role("heading", name="Answer 499")).to_be_in_viewport()
    assert max(opening.tasks) < 2 * LONGEST_FRAME
    tab.until("document.querySelectorAll('.turn').length >= 200")  # made when there was nothing else to do
    tab.run(
        "globalThis.old = document.querySelector('.turn'); old.querySelector('.bubble').dataset.mark = 'kept'"
    )
    with traced(tab) as streaming:
        say(tab, "/stream 1000")
        tab.until("document.querySelector('.turn:last-child article').getAttribute('aria-busy') === 'false'")
    assert max(streaming.tasks) < LONGEST_FRAME
    assert tab.run("return old.isConnected && old.querySelector('.bubble').dataset.mark === 'kept'")
    tab.page.get_by_role("region", name="Conversation").hover()
    tab.page.mouse.wheel(0, -200)  # only a person leaves the end
    expect(tab.page.get_by_role("button", name="Go to the end")).to_be_visible()
    scroll = "document.querySelector('.transcript').scrollTo(0, 0)"
    tab.until(f"({scroll}, document.querySelectorAll('.turn').length === {TURNS + 1})")
    expect(tab.page.get_by_text("Question 0", exact=True)).to_be_in_viewport()
    expect(composer(tab)).to_be_enabled()


def test_ten_thousand_messages_on_the_wire_scroll_and_filter_smoothly(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "warm up")
    wait_idle(tab)
    shortcut(tab, "4")
    expect(tab.page.locator(".frame").first).to_be_visible()
    # As if they had come: what counts here is the panel.
    tab.run(
        "for (let n = 0; n < 10000; n++) {"
        "    const action = { type: 'chat/delta', turnId: 't', partId: 'p', content: `piece-${n}-` };"
        "    const params = { channel: 'ahp-chat:/c', action, serverSeq: n };"
        "    client.tap.message('in', JSON.stringify({ jsonrpc: '2.0', method: 'action', params })); }"
    )
    tab.until("client.tap.frames().length === 10000")
    assert tab.page.locator(".frame").count() < 100
    with traced(tab) as trace:
        tab.run(
            "const list = document.querySelector('.frames');"
            "for (let top = list.scrollHeight; top > 0; top -= 6000) {"
            "    list.scrollTop = top; await new Promise(requestAnimationFrame); }"
        )
        tab.page.get_by_label("Filter by text").fill("piece-77-")
        expect(tab.page.locator(".wire-totals")).to_contain_text("1 of 10,000 shown")
        expect(tab.page.locator(".frame").first).to_be_visible()
    assert max(trace.tasks) < LONGEST_FRAME
