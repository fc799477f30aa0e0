"""Legacy clients see a session and its default chat as one legacy session, whatever happens."""

from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.legacy.reducers import Live
from core_legacy import followed, seen
from session_histories import History, histories


@given(history=histories())
def test_who_follows_the_actions_sees_the_projected_state(history: History) -> None:
    live = Live(seen(history.session, history.chat))
    for step in history.steps:
        live = followed(live, step)
        if step.ends_group:
            assert live.state == seen(step.session, step.chat), step.action


@given(history=histories(), data=st.data())
def test_who_joins_later_ends_with_the_same_state(history: History, data: st.DataObject) -> None:
    moments = [place for place, step in enumerate(history.steps) if step.ends_group]
    if not moments:
        return
    joined = data.draw(st.sampled_from(moments))
    live = Live(seen(history.steps[joined].session, history.steps[joined].chat))
    for step in history.steps[joined + 1 :]:
        live = followed(live, step)
    assert live.state == seen(history.steps[-1].session, history.steps[-1].chat)
