"""What is sent along with a message: what nobody knows is kept and passed on, what is wrong is refused."""

from typing import Any

import pytest

from ahp_agents import ECHO
from ahp_frames import UNKNOWN_KIND
from ahp_sites import Place, on_a_host
from ahp_speaking import Client, new_uri
from rules import rule

UNKNOWN: Any = {"type": UNKNOWN_KIND, "uri": "file:///x", "displayName": "x", "more": {"deep": [1]}}
MESSAGE = {"text": "See:", "attachments": [UNKNOWN]}
READ = [{"type": "text", "text": "See:"}, {"type": "text", "text": "[attached: x, file:///x]"}]


async def ended(me: Client, uri: str) -> Any:
    """Wait for the end of the only turn, and return it as everybody sees it."""
    await me.until(lambda: me.state(uri)["turns"])
    (turn,) = (await me.subscribe(uri))["turns"]
    return turn


async def check(place: Place, me: Client, uri: str) -> None:
    turn = await ended(me, uri)
    assert (turn["userMessage"], turn["state"]) == (MESSAGE, "complete")
    session = await place.host.parts.engine.sessions.get(uri)
    assert session.messages[0].message == {"role": "user", "content": READ}
    history = await place.ask(f"/aap/v3/sessions/{session.row.name}/history?type=full")
    assert history.status == 200
    assert "[attached: x, file:///x]" in history.body.decode()


@rule("HR-A01", "HR-I09")
@on_a_host(ECHO)
async def test_an_attachment_of_an_unknown_kind_is_echoed_kept_and_given_to_the_model(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("echo"))
        envelope = await me.decide(uri, "session/turnStarted", turnId="t1", userMessage=MESSAGE)
        assert "rejectionReason" not in envelope
        assert envelope["action"]["userMessage"] == MESSAGE
        await check(place, me, uri)


@rule("HR-A01", "HR-I09", "HR-U03")
@on_a_host(ECHO)
async def test_a_queued_message_with_an_unknown_attachment_becomes_a_turn(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("echo"))
        await me.decide(uri, "session/pendingMessageSet", kind="queued", id="q1", userMessage=MESSAGE)
        await check(place, me, uri)


@rule("HR-A01")
@pytest.mark.parametrize(
    ("attachment", "reason"),
    [
        (5, "$.userMessage.attachments[0]: expected an object, found the number 5"),
        ({"label": "x"}, "$.userMessage.attachments[0].type: expected a string, found nothing"),
        ({"type": 5}, "$.userMessage.attachments[0].type: expected a string, found the number 5"),
        (
            {"type": "resource", "label": "x"},
            "$.userMessage.attachments[0].uri: expected a string, found nothing",
        ),
    ],
)
@on_a_host(ECHO)
async def test_an_attachment_that_is_wrong_is_refused_with_its_path(
    place: Place, attachment: Any, reason: str
) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("echo"))
        message = {"text": "", "attachments": [attachment]}
        refused = await me.decide(uri, "session/turnStarted", turnId="t1", userMessage=message)
        assert refused["rejectionReason"] == reason
        more = {"kind": "queued", "id": "q1", "userMessage": message}
        refused = await me.decide(uri, "session/pendingMessageSet", **more)
        assert refused["rejectionReason"] == reason
        assert "queuedMessages" not in me.state(uri)
