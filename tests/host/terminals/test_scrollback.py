"""How much of a terminal's content is kept."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.reducers import Live, reduce_terminal
from agenthost.host.state.scrollback import MAX_PARTS, content_size, trim_content

ACTIONS = st.one_of(
    st.builds(lambda text: {"type": "terminal/data", "data": text}, st.text("ab\n", max_size=12)),
    st.builds(
        lambda name: {
            "type": "terminal/commandExecuted",
            "commandId": name,
            "commandLine": name,
            "timestamp": 1,
        },
        st.sampled_from("xyz"),
    ),
    st.builds(
        lambda name: {"type": "terminal/commandFinished", "commandId": name, "exitCode": 0, "durationMs": 1},
        st.sampled_from("xyz"),
    ),
)


def state_of(content: list[Any]) -> Any:
    claim = {"kind": "client", "clientId": "me"}
    return {"title": "", "content": content, "claim": claim, "lifecycle": {"status": "running"}}


def text_of(state: Any) -> str:
    return "".join(part.get("output", part.get("value")) for part in state["content"])


def reduced(state: Any, actions: list[Any]) -> Any:
    live: Live[Any] = Live(state)
    for action in actions:
        live = reduce_terminal(live, action)
    return live.state


@given(st.lists(ACTIONS, max_size=15), st.lists(ACTIONS, max_size=15), st.integers(1, 40))
def test_a_copy_without_its_beginning_ends_like_the_original(
    before: list[Any], after: list[Any], limit: int
) -> None:
    whole = reduced(state_of([]), before)
    cut = trim_content(whole, limit)
    assert content_size(cut) <= limit
    assert text_of(whole).endswith(text_of(cut))
    later_whole, later_cut = reduced(whole, after), reduced(cut, after)
    assert text_of(later_whole).endswith(text_of(later_cut))
    assert len(text_of(later_whole)) - len(text_of(later_cut)) == len(text_of(whole)) - len(text_of(cut))


def test_small_content_is_not_trimmed() -> None:
    state = state_of([{"type": "unclassified", "value": "abc"}])
    assert trim_content(state, 3) is state


def test_content_is_cut_at_the_start_of_a_line_if_possible() -> None:
    state = state_of([{"type": "unclassified", "value": "first\nsecond\nthird"}])
    assert text_of(trim_content(state, 9)) == "third"
    assert text_of(trim_content(state_of([{"type": "unclassified", "value": "x" * 50}]), 9)) == "x" * 9


def test_the_number_of_parts_is_limited() -> None:
    part = {
        "type": "command",
        "commandId": "1",
        "commandLine": "x",
        "output": "",
        "timestamp": 1,
        "isComplete": True,
    }
    assert len(trim_content(state_of([part] * (MAX_PARTS + 5)), 10)["content"]) == MAX_PARTS
