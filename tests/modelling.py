"""A model service to ask: aimock in a process of its own, in place of OpenAI, Anthropic and Google.

It answers by fixtures: what the last message of the user holds decides. All formats share them.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from agenthost.agents.model import ModelAgent
from agenthost.host.authoring.tool import tool
from peering import peer
from serving import TIMEOUT, Lines

TITLE = "Give a title"
"""What requests for titles say."""


@dataclass(frozen=True)
class Service:
    """A model service that runs."""

    url: str

    def requests(self, said: str) -> list[Any]:
        """Return the bodies of all requests whose last user message holds this, as OpenAI's chat has them."""
        return [entry["body"] for entry in self._journal() if _is_asked(entry["body"], said)]

    def interrupted(self, said: str) -> list[bool]:
        """Tell of the same requests whether whoever asked left before the answer was whole."""
        entries = [entry for entry in self._journal() if _is_asked(entry["body"], said)]
        return [bool(entry["response"].get("interrupted")) for entry in entries]

    def _journal(self) -> Any:
        with urlopen(f"{self.url}/__aimock/journal", timeout=TIMEOUT) as answer:  # noqa: S310 - as we say
            return json.load(answer)

    def post(self, path: str, body: Any) -> None:
        """Tell the service how to be, by its own interface."""
        data, headers = json.dumps(body).encode(), {"content-type": "application/json"}
        with urlopen(Request(f"{self.url}/__aimock/{path}", data, headers), timeout=TIMEOUT):  # noqa: S310
            pass


def _is_asked(body: Any, said: str) -> bool:
    words = [json.dumps(message, ensure_ascii=False) for message in (body or {}).get("messages", [])]
    users = [one for one in words if '"role": "user"' in one]
    return bool(users) and said in users[-1] and not any(TITLE in one for one in words)


@contextmanager
def model_service(folder: Path, fixtures: Sequence[Any], **config: Any) -> Iterator[Service]:
    """Run a service with these fixtures; titles are always the same."""
    title = {"match": {"systemMessage": TITLE}, "response": {"content": "Of clocks and dice"}}
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": [title, *fixtures]}))
    settings = {
        "port": 0,
        "llm": {"fixtures": str(folder / "fixtures.json"), **config.pop("llm", {})},
        **config,
    }
    (folder / "aimock.json").write_text(json.dumps(settings))
    command = [peer("aimock"), "--config", str(folder / "aimock.json")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    with process:
        lines = Lines(process.stdout)
        try:
            yield Service(lines.wait_for("listening on ").rpartition(" ")[2])
        finally:
            process.kill()
            lines.rest()


WIRES = {
    "chat": ("openai-chat:gpt-4o", "/v1"),
    "responses": ("openai-responses:gpt-5", "/v1"),
    "anthropic": ("anthropic:claude-sonnet-5", ""),
    "google": ("google:gemini-3.5-flash", ""),
}
"""The wire formats: a model of each, and the path that its base URL ends with."""


@tool(read_only=True)
def clock(zone: str = "UTC") -> str:
    """Tell the time."""
    return f"12:00 in {zone}"


@tool(exposed=False)
def dice() -> str:
    """Throw a die."""
    return "a four"


def model_agent(wire: str, url: str, **more: Any) -> ModelAgent:
    """Make an agent, called like the format, of a model that this service runs."""
    model, path = WIRES[wire]
    declared = {"tools": [clock, dice], "system": "Be brief.", "api_key": "key-for-tests", **more}
    return ModelAgent(wire, model=model, base_url=url + path, **declared)
