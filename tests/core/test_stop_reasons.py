"""Stop reasons, recognized by the sentence at the end of a turn."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.stop_reasons import STOP_SENTENCES, stop_reason_of
from building import markdown
from chat_building import broken, done


def notice(content: Any) -> Any:
    return {"kind": "systemNotification", "content": content}


@pytest.mark.parametrize("reason", sorted(STOP_SENTENCES))
def test_the_sentence_at_the_end_of_a_turn_is_its_stop_reason(reason: str) -> None:
    assert stop_reason_of(done("t1", markdown("p1", "So"), notice(STOP_SENTENCES[reason]))) == reason
    assert stop_reason_of(done("t1", notice(STOP_SENTENCES[reason]))) == reason


@pytest.mark.parametrize("sentence", sorted(STOP_SENTENCES.values()))
def test_the_same_words_elsewhere_are_an_answer_like_any_other(sentence: str) -> None:
    assert stop_reason_of(done("t1", markdown("p1", sentence))) is None
    assert stop_reason_of(done("t1", notice(sentence), markdown("p1", "Or not."))) is None
    assert stop_reason_of(done("t1", notice(sentence), broken(), state="error")) is None


def test_the_sentences_differ_so_each_names_one_reason() -> None:
    assert len(set(STOP_SENTENCES.values())) == len(STOP_SENTENCES)


@given(content=st.none() | st.text() | st.integers())
def test_a_turn_that_ends_otherwise_has_no_stop_reason(content: Any) -> None:
    assert stop_reason_of(done("t1")) is None
    assert stop_reason_of(done("t1", {"kind": "unheard of"})) is None
    assert stop_reason_of(done("t1", {"kind": "systemNotification"})) is None
    assert stop_reason_of(done("t1", notice(content))) is None
