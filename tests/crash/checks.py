"""What has to be true of a store after a kill, whenever it came. A check raises `Wrong` with what differs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.derived import SHOWN_FIELDS, waiting_in
from agenthost.core.reducers import Live, reduce_chat, reduce_session
from agenthost.core.session_meta import model_of
from agenthost.core.summaries import session_summary
from agenthost.core.transcript import TRANSCRIPT, check_imported_history, public, requested_calls
from agenthost.errors import InvalidValue
from agenthost.host.log.text_runs import unpack
from agenthost.host.storage import ROOT, Entry, Storage, StoredSession
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions.text import ACTION
from agenthost.wire.json import decode_json, encode_json
from crash.plan import SessionPlan
from crash.script import ONCE, allowed_results, expected_parts, usual_result


class Wrong(AssertionError):
    """Something that has to be true is not."""


def demand(is_so: bool, *words: object) -> None:
    """Raise what is wrong, unless it is so."""
    if not is_so:
        raise Wrong(" ".join(map(str, words)))


@dataclass(slots=True)
class Seen:
    """What the process reported over all its lives."""

    shown: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    refused: dict[str, dict[int, bytes]] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    durable: int = 0

    def last(self) -> dict[str, int]:
        """Return the number to resume from, by URI."""
        return {uri: entries[-1][0] for uri, entries in self.shown.items() if entries}


@dataclass(slots=True)
class Found:
    """What a check found, to be counted."""

    turns: Counter[str] = field(default_factory=Counter)
    interrupted: set[str] = field(default_factory=set)


def read_notes(path: Path) -> Counter[str]:
    """Return how often each call wrote down that it ran."""
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(line.split()[0] for line in lines)


class Checker:
    """Checks a store, and remembers of it what the next check needs."""

    def __init__(self) -> None:
        self._bases: dict[str, tuple[Any, int]] = {}
        self._sessions: dict[str, Any] = {}

    def check(
        self, storage: Storage, notes: Path, seen: Seen, plans: Sequence[SessionPlan], *, at_end: bool
    ) -> Found:
        """Check a store that nobody else uses, as far as these sessions go."""
        found = Found()
        ran = read_notes(notes)
        twice = [call_id for call_id, times in ran.items() if times > 1]
        demand(not twice, "ran twice:", twice)
        opening = storage.open()
        try:
            demand(opening.last_seq >= seen.durable, "durable was", seen.durable, "not", opening.last_seq)
            self._check_log(storage, ROOT, ROOT_URI, seen, "root")
            for plan in plans:
                row = storage.find(uri=plan.uri)
                demand(row is not None or plan.uri not in seen.made, plan.uri, "was made and is not there")
                if row is not None:
                    stored = storage.load(row.number)
                    assert stored is not None
                    log = self._check_log(storage, row.number, plan.uri, seen, plan.client)
                    states = self._check_states(stored, log, plan)
                    is_active = "activeTurn" in states.chat
                    demand(is_active == (row.number in opening.active), plan.uri, "active:", is_active)
                    _Session(plan, states, stored, ran, found, storage).check(at_end=at_end)
        finally:
            storage.close()
        return found

    def _check_log(self, storage: Storage, number: int, uri: str, seen: Seen, client: str) -> list[Entry]:
        """Check that what was shown is the beginning of the log: nothing missing, twice, or changed."""
        log = unpack(storage.replay(0, [number], client))
        numbers = [entry.seq for entry in log]
        demand(numbers == sorted(set(numbers)), uri, "has a number twice:", numbers)
        for entry in log:
            demand(decode_json(entry.envelope)["serverSeq"] == entry.seq, uri, entry)
        stored = {entry.seq: entry.envelope for entry in log}
        for seq, envelope in seen.refused.get(uri, {}).items():
            demand(stored.get(seq) == envelope, uri, "refused:", envelope, "but stored:", stored.get(seq))
        happened = [(entry.seq, entry.envelope) for entry in log if entry.only_for is None]
        shown = seen.shown.get(uri, [])
        if shown != happened[: len(shown)]:
            pairs = zip(shown, [*happened, *[None] * len(shown)], strict=False)
            demand(False, uri, "differs:", next(pair for pair in pairs if pair[0] != pair[1]))
        return log

    def _check_states(self, stored: StoredSession, log: list[Entry], plan: SessionPlan) -> Conversation:
        """Check that snapshot and log give the same states as the whole log does, and the row agrees."""
        uri = plan.uri
        base, base_seq = self._bases.setdefault(uri, (decode_json(stored.state), stored.state_seq))
        # What belongs to the session of a further chat is in the session's own log.
        session = {} if plan.home is None else {"session": self._sessions[plan.home]}
        whole = _reduced({**base, **session}, [entry for entry in log if entry.seq > base_seq])
        entries = unpack(stored.entries, after=stored.state_seq)
        states = _reduced({**decode_json(stored.state), **session}, entries)
        demand(whole == states, uri, "is", encode_json(states), "by its snapshot and", encode_json(whole),
               "by its log")  # fmt: skip
        self._sessions[uri] = states.session
        _check_catalogue(states)
        if plan.home is not None:
            return states
        summary = decode_json(stored.row.summary)
        expected = session_summary(uri, states.session, summary["createdAt"])
        demand(summary == expected, uri, "is listed as", summary, "and is", expected)
        return states


def _check_catalogue(states: Conversation) -> None:
    """Check that a session shows of a chat what there is, and what waits in it."""
    session, chat = states
    uri = chat["resource"]
    (entry,) = [one for one in session["chats"] if one["resource"] == uri]
    for key in SHOWN_FIELDS:
        demand((entry.get(key) or "") == (chat.get(key) or ""), uri, "is listed as", entry, "and is", chat)
    waiting = [one["id"] for one in session.get("inputNeeded", []) if one["chat"] == uri]
    demand(sorted(waiting) == sorted(waiting_in(chat)), uri, "waits with", waiting, "and has", chat)


def _reduced(states: Any, entries: Sequence[Entry]) -> Conversation:
    session: Live[Any] = Live(states["session"])
    chat: Live[Any] = Live(states["chat"])
    for entry in entries:
        envelope = decode_json(entry.envelope)
        if "rejectionReason" in envelope:
            continue
        action: Any = ACTION.take(envelope["action"])
        if envelope["channel"] == chat.base["resource"]:
            chat = reduce_chat(chat, action)
        else:
            session = reduce_session(session, action)
    return Conversation(session.state, chat.state)


class _Session:
    """One stored session against its plan."""

    def __init__(
        self,
        plan: SessionPlan,
        states: Conversation,
        stored: StoredSession,
        ran: Counter[str],
        found: Found,
        storage: Storage,
    ) -> None:
        self._plan = plan
        self._states = states
        self._said = [decode_json(body) for body in stored.messages]
        self._ran = ran
        self._found = found
        self._storage = storage
        self._number = stored.row.number

    def _demand(self, is_so: bool, *words: object) -> None:
        demand(is_so, self._plan.uri, *words)

    def check(self, *, at_end: bool) -> None:
        """Check transcript and turns; at the end also that all is as planned."""
        messages = [one["message"] for one in self._said]
        try:
            TRANSCRIPT.take(messages)
            check_imported_history(public(messages))
        except InvalidValue as error:
            self._demand(False, "has a transcript that is none:", error, messages)
        turns: list[Any] = self._states.chat["turns"]
        active = self._states.chat.get("activeTurn")
        known = {turn["id"] for turn in [*turns, *([active] if active else [])]}
        spoken = list(dict.fromkeys(one["turn"] for one in self._said))
        self._demand(set(spoken) == known, "speaks in", spoken, "but has", sorted(known))
        for turn in turns:
            self._check_turn(turn, is_over=True)
        if active is not None:
            self._check_turn(active, is_over=False)
        if at_end:
            self._check_end(turns, active)

    def _check_turn(self, turn: Any, *, is_over: bool) -> None:
        messages = [one["message"] for one in self._said if one["turn"] == turn["id"]]
        text = turn["message"]["text"]
        self._demand(messages[0]["role"] == "user" and messages[0]["content"] == text, turn, messages)
        told = {one["toolCallId"]: one["content"] for one in messages if one["role"] == "tool"}
        asked = [call["toolCallId"] for one in messages for call in requested_calls(one)]
        calls = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
        if is_over:
            self._demand(set(asked) == set(told), "left calls open:", set(asked) - set(told), messages)
            self._check_words(turn, messages)
            self._found.turns[turn["state"]] += 1
        is_whole = is_over and turn["state"] == "complete"
        for call in calls:
            self._check_call(call, told, is_whole=is_whole)
        expected = expected_parts(text, calls, told)
        self._check_parts(turn["responseParts"], expected, is_whole=is_whole)

    def _check_call(self, call: Any, told: Any, *, is_whole: bool) -> None:
        """Check what the model was told of a call, and that it is what was done."""
        call_id, name = call["toolCallId"], call["toolName"]
        if call_id not in told or not is_whole or name == "big":
            return
        argument = decode_json(call["toolInput"])["text"]
        allowed = allowed_results(name, argument)
        self._demand(told[call_id] in allowed, call, "was told as", told[call_id], "not", allowed)
        if name in ONCE:
            is_usual = told[call_id] == usual_result(name, argument)
            self._demand(not is_usual or self._ran[call_id] == 1, call, "did not run, but was told as done")
            self._demand(not argument.endswith("-deny") or self._ran[call_id] == 0, call, "ran")
            if "interrupted" in told[call_id]:
                self._found.interrupted.add(call_id)

    def _check_words(self, turn: Any, messages: Sequence[Any]) -> None:
        """Check that the model reads of a turn what people saw of it."""
        blocks = [_blocks(one["content"]) for one in messages if one["role"] == "assistant"]
        read = "".join(block.get("text", "") for content in blocks for block in content)
        shown = "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "markdown")
        self._demand(read == shown, "reads", read, "but shows", shown)

    def _check_parts(self, parts: Sequence[Any], expected: Sequence[Any], *, is_whole: bool) -> None:
        """Check that the parts are the beginning of what is expected; all of it, of a turn that completed."""
        self._demand(len(parts) <= len(expected), "has too many parts:", parts, "not", expected)
        self._demand(not is_whole or len(parts) == len(expected), "lacks parts:", parts, "not", expected)
        for place, (part, wanted) in enumerate(zip(parts, expected, strict=False)):
            may_grow = not is_whole and place == len(parts) - 1
            self._demand(self._fits(part, wanted, may_grow=may_grow), "has", part, "not", wanted)

    def _fits(self, part: Any, wanted: Any, *, may_grow: bool) -> bool:
        if part["kind"] != wanted["kind"]:
            return False
        match part["kind"]:
            case "toolCall":
                return bool(part["toolCall"]["toolName"] == wanted["tool"])
            case "inputRequest":
                return bool(part["request"]["questions"][0]["message"] == wanted["question"])
            case "error":
                return True
            case "contentRef":
                content = self._storage.content(self._number, part["uri"].rpartition("/")[2])
                return content is not None and len(content.data) == wanted["size"]
        text: str = part["content"]
        return wanted["text"].startswith(text) if may_grow else bool(wanted["text"] == text)

    def _check_end(self, turns: Sequence[Any], active: Any) -> None:
        self._demand(active is None, "still runs", active)
        left = [(turn["message"]["text"], turn["state"]) for turn in turns]
        self._demand(left == self._plan.left, "ended with", left, "not", self._plan.left)
        session, chat = self._states
        for key in ("queuedMessages", "steeringMessage"):
            self._demand(key not in chat, "still has", key, chat.get(key))
        self._demand("inputNeeded" not in session, "still needs", session.get("inputNeeded"))
        if self._plan.title is not None:
            self._demand(session["title"] == self._plan.title, "is called", session["title"])
        if self._plan.model is not None:
            model = model_of(session)
            self._demand(model is not None and model["id"] == self._plan.model, "has no", self._plan.model)


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
