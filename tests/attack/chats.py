"""Attacks of one owner on the channels of another's session, over AHP 1.0."""

from pathlib import Path
from typing import Any

from ahp_channels import ChannelClient
from attack.stage import Target, hold

MALFORMED = -32602
ROOT = "ahp-root://"


async def try_channels(target: Target, ann: str, bob: str, private: str, file: Path) -> int:
    """Try with another's key what a session, its chat and its files allow; returns how much was tried."""
    async with ChannelClient.connected(target.url, "me", ann) as owner:
        await owner.open()
        uri = await owner.begun("caller:/chat", provider="caller")
        chat = owner.chat_of(uri)
        await owner.decide(uri, "session/titleChanged", title=private)
        seen = owner.last_seq
        before = (owner.state(uri), owner.chat(uri))
        async with ChannelClient.connected(target.url, "bob", bob) as other:
            await other.open(initialSubscriptions=[ROOT])
            tried = await _try_requests(other, uri, chat, file, private)
            tried += await _try_actions(other, uri, chat)
            hold(private not in "".join(other.frames), "what ann said came to bob")
        async with ChannelClient.connected(target.url, "bob", bob) as other:
            await _try_to_come_back(other, seen, uri, chat)
            hold(private not in "".join(other.frames), "what ann said came to bob when he came back")
        await owner.check_folds()
        hold((owner.state(uri), owner.chat(uri)) == before, "ann's session has changed")
    return tried + 1


async def _try_requests(other: ChannelClient, uri: str, chat: str, file: Path, private: str) -> int:
    text: Any = {"kind": "userMessage", "text": "@", "offset": 1}
    attempts: list[tuple[str, Any]] = [
        *(("subscribe", {"channel": channel}) for channel in (uri, chat)),
        *(("fetchTurns", {"channel": channel}) for channel in (uri, chat)),
        *(("completions", {"channel": channel, **text}) for channel in (uri, chat)),
        *(("disposeSession", {"channel": channel}) for channel in (uri, chat)),
        ("createTerminal", {"channel": "t:/c", "claim": _claim(uri, chat)}),
        ("resourceRead", {"channel": ROOT, "uri": file.as_uri()}),
        ("resourceDelete", {"channel": ROOT, "uri": file.as_uri()}),
    ]
    for method, params in attempts:
        refused = await other.refusal(method, **params)
        hold(private not in refused.message, f"{method} tells: {refused.message}")
        hold(refused.code != MALFORMED, f"{method} was not even tried: {refused.message}")
    for channel in (uri, chat):
        refused = await other.refusal("createSession", channel=channel, provider="caller")
        hold("cannot be used here" in refused.message, f"bob learns of {channel}: {refused.message}")
    listed = await other.request("listSessions", channel=ROOT)
    hold(uri not in [one["resource"] for one in listed["items"]], "another's session is listed")
    return len(attempts) + 2


def _claim(uri: str, chat: str) -> Any:
    return {"kind": "session", "session": uri, "chat": chat}


async def _try_actions(other: ChannelClient, uri: str, chat: str) -> int:
    """Send actions to channels of another owner: there is no answer, as for those that do not exist."""
    message = {"text": "mine", "origin": {"kind": "user"}}
    sent: list[tuple[str, str, Any]] = [
        (chat, "chat/turnStarted", {"turnId": "b", "startedAt": "2026-01-01T00:00:00Z", "message": message}),
        (chat, "chat/draftChanged", {"draft": message}),
        (chat, "chat/truncated", {}),
        (chat, "session/titleChanged", {"title": "mine"}),
        (uri, "session/titleChanged", {"title": "mine"}),
        (uri, "session/activeClientSet", {"activeClient": {"clientId": "bob", "tools": []}}),
        (uri, "chat/turnCancelled", {"turnId": "t"}),
        ("ahp-chat:/nobody", "chat/truncated", {}),
    ]
    for channel, kind, fields in sent:
        await other.act(channel, kind, **fields)
    await other.request("ping", channel=ROOT)
    told = [one for one in other.envelopes if one.get("origin", {}).get("clientId") == "bob"]
    hold(told == [], f"bob is told of what is not his: {told}")
    return len(sent)


async def _try_to_come_back(other: ChannelClient, seen: int, uri: str, chat: str) -> None:
    wanted = {"lastSeenServerSeq": max(seen - 50, 0), "subscriptions": [uri, chat]}
    back = await other.request("reconnect", channel=ROOT, clientId="bob", **wanted)
    hold(back.get("actions", []) == [] and back.get("snapshots", []) == [], "channels came to another owner")
    hold(sorted(back.get("missing", [uri, chat])) == sorted([uri, chat]), f"not all is missing: {back}")
