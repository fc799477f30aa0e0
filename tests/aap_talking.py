"""Somebody who speaks AAP, in any of its versions, by bare HTTP on a real socket.

`Speaker` says the same in each version: paths, names and the way to begin are the version's own. What comes
back is a `Reply`, which reads alike whatever the response mode; `Listening` is a stream that is read by hand.
"""

import http.client
import json
from collections.abc import Callable, Sequence
from typing import Any

from agenthost.wire.aap import v1, v3
from agenthost.wire.sse import SseDecoder
from serving import TIMEOUT, Answer

MODES = ("none", "message", "delta")

SCHEMA: Any = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def assistant(content: Any) -> Any:
    return {"role": "assistant", "content": content}


def used(call_id: str, name: str, **arguments: Any) -> Any:
    """Ask for a tool inside an assistant's message."""
    return {"type": "tool_use", "toolCallId": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any) -> Any:
    return {"role": "tool", "toolCallId": call_id, "content": content}


def permission(call_id: str, *, granted: bool = True, **more: Any) -> Any:
    return {"role": "tool_permission", "toolCallId": call_id, "granted": granted, **more}


class Reply:
    """What came back for a turn, in whatever mode."""

    def __init__(self, answer: Answer, number: int) -> None:
        self.status, self.headers, self.body = answer.status, answer.headers, answer.body
        self._number = number
        self.session = ""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_stream(self) -> bool:
        return self.headers["content-type"].startswith("text/event-stream")

    @property
    def events(self) -> list[Any]:
        """The events, each checked by the version's own shape."""
        return decode_events(self.body, self._number)

    def of(self, name: str) -> list[Any]:
        """Return the events of one name, without it."""
        found = [event for event in self.events if event["event"] == name]
        return [{key: value for key, value in event.items() if key != "event"} for event in found]

    @property
    def stop(self) -> str:
        """Why the turn stopped; said once, and last."""
        if not self.is_stream:
            return str(self.json["stopReason"])
        *before, last = self.events
        assert all(event["event"] != "turn_stop" for event in before)
        return str(last["stopReason"])

    @property
    def text(self) -> str:
        """All that the agent said."""
        if self.is_stream:
            return "".join(str(event.get("delta", event.get("text"))) for event in self._said("text"))
        return "".join(block["text"] for block in self._blocks() if block["type"] == "text")

    @property
    def thoughts(self) -> str:
        if self.is_stream:
            said = self._said("thinking")
            return "".join(str(event.get("delta", event.get("thinking"))) for event in said)
        return "".join(block["thinking"] for block in self._blocks() if block["type"] == "thinking")

    def _said(self, kind: str) -> list[Any]:
        return [event for event in self.events if event["event"] in (kind, f"{kind}_delta")]

    def _blocks(self) -> list[Any]:
        found = [one["content"] for one in self.json["messages"] if one["role"] == "assistant"]
        return [block for one in found for block in (blocks_of(one))]

    @property
    def calls(self) -> dict[str, str]:
        """The calls that were asked for: their ids, by the names of the tools."""
        found = self.of("tool_call") if self.is_stream else self._blocks()
        return {one["name"]: one["toolCallId"] for one in found if "toolCallId" in one}

    @property
    def results(self) -> dict[str, Any]:
        """What came of the server's tools, by the ids of the calls."""
        found = self.of("tool_result") if self.is_stream else self.json["messages"]
        return {one["toolCallId"]: one["content"] for one in found if "toolCallId" in one}

    @property
    def error(self) -> Any:
        """Why a request was refused: a code, a sentence, perhaps a path, and nothing else."""
        assert 400 <= self.status < 500, (self.status, self.body)
        assert list(self.json) == ["error"]
        error = self.json["error"]
        assert {"code", "message"} <= error.keys() <= {"code", "message", "path"}
        assert all(type(value) is str for value in error.values())
        return error


def blocks_of(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def decode_events(data: bytes, number: int = 3) -> list[Any]:
    decode: Callable[[Any], Any] = v3.decode_event if number == 3 else v1.decode_event
    return [decode(event) for event in SseDecoder().feed(data)]


class Listening:
    """An answer that is read by hand, as far as one likes."""

    def __init__(self, connection: http.client.HTTPConnection, number: int) -> None:
        self._connection = connection
        self._response = connection.getresponse()
        self._number = number
        self.status = self._response.status
        self.data = b""

    def read_until(self, part: bytes) -> bytes:
        """Read on until this has come."""
        while part not in self.data:
            chunk = self._response.read1(65_536)
            assert chunk, f"the stream ended without {part!r}: …{self.data[-200:]!r}"
            self.data += chunk
        return self.data

    def rest(self) -> Reply:
        """Read all of it."""
        self.data += self._response.read()
        self.leave()
        headers = {key.lower(): value for key, value in self._response.getheaders()}
        return Reply(Answer(self.status, headers, self.data), self._number)

    def leave(self) -> None:
        """Hang up."""
        self._connection.close()


class Speaker:
    """An application that speaks one version of AAP with a server."""

    def __init__(self, url: str, number: int) -> None:
        self.url = url
        self.number = number
        self.base = f"/aap/v{number}"
        self.word = "parameters" if number == 3 else "inputSchema"

    def one(self, session: str) -> str:
        """Return the path of a session."""
        return f"{self.base}/{'sessions' if self.number == 3 else 'session'}/{session}"

    def turns(self, session: str) -> str:
        """Return the path that takes turns."""
        return self.one(session) + ("/turns" if self.number == 3 else "")

    def tool(self, name: str, schema: Any = SCHEMA, **more: Any) -> Any:
        """Declare a tool of the application's own."""
        return {"name": name, "description": f"Do {name}", self.word: schema, **more}

    # Requests

    def open(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str
    ) -> Listening:
        """Send a request, and return the answer to be read; `raw` is a body that is no JSON of ours."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=TIMEOUT)
        data = raw if raw is not None else None if body is None else json.dumps(body)
        connection.request(
            method, path, data, {name.replace("_", "-"): text for name, text in headers.items()}
        )
        return Listening(connection, self.number)

    def ask(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str
    ) -> Reply:
        """Send a request, and return the whole answer."""
        return self.open(method, path, body, raw=raw, **headers).rest()

    def get(self, path: str) -> Any:
        """Read what must be there."""
        found = self.ask("GET", path)
        assert found.status == 200, found.body
        return found.json

    # Sessions

    def make(self, agent: Any = None, seed: Sequence[Any] = (), tools: Any = None, **more: Any) -> Reply:
        """Ask for a session: where that runs a turn at once, a greeting is its message."""
        asked: Any = {"agent": {"name": "demo", **(agent or {})}, **more}
        if tools is not None:
            asked["tools"] = tools
        if self.number == 3:
            asked |= {"messages": list(seed)} if seed else {}
            return self._made(self.ask("POST", f"{self.base}/sessions", asked))
        return self._made(self.ask("PUT", f"{self.base}/session", {**asked, "messages": [*seed, user("Hi")]}))

    def begin(
        self,
        text: Any,
        agent: Any = None,
        *,
        stream: str | None = None,
        tools: Any = None,
        seed: Sequence[Any] = (),
    ) -> Reply:
        """Make a session and run its first turn, in the way of the version."""
        first = {"messages": [user(text)], **({"stream": stream} if stream else {})}
        if self.number == 3:
            made = self.make(agent, seed, tools)
            assert made.status == 201, made.body
            reply = self.turn(made.session, **first)
            reply.session = made.session
            return reply
        asked: Any = {"agent": {"name": "demo", **(agent or {})}, **({"tools": tools} if tools else {})}
        messages = [*seed, *first.pop("messages")]
        return self._made(self.ask("PUT", f"{self.base}/session", {**asked, **first, "messages": messages}))

    def _made(self, reply: Reply) -> Reply:
        if reply.status in (200, 201):
            found = reply.of("session_start")[0] if reply.is_stream else reply.json
            reply.session = found["sessionId"]
        return reply

    def turn(self, session: str, *messages: Any, **more: Any) -> Reply:
        """Send a turn; plain text is a user's message."""
        return self.start(session, *messages, **more).rest()

    def start(self, session: str, *messages: Any, **more: Any) -> Listening:
        """Send a turn, and return the answer to be read."""
        sent = [user(one) if isinstance(one, str) else one for one in messages]
        return self.open("POST", self.turns(session), {"messages": sent, **more})

    def show(self, session: str) -> Any:
        """Read how a session is set up, without its history."""
        found = self.get(self.one(session))
        return {key: value for key, value in found.items() if key != "history"}

    def history(self, session: str, kind: str = "full") -> list[Any]:
        """Read what was said."""
        if self.number == 1:
            found: Any = self.get(f"{self.one(session)}?history={kind}")
        else:
            found = self.get(f"{self.one(session)}/history?type={kind}")
        assert list(found["history"]) == [kind]
        return found["history"][kind]  # type: ignore[no-any-return]
