"""The model of the crash tests: aimock, told by fixtures to say what the script has for each turn.

It lives through all kills of the host, as the services of others do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crash.plan import Exchange, plan_session
from crash.script import Move, Say, Stop, Think, Use, moves_of
from modelling import model_service

SESSIONS = 250
"""For how many sessions there are fixtures."""


@contextmanager
def scripted_model(folder: Path, seed: int) -> Iterator[str]:
    """Run the service; returns its URL."""
    plans = [plan_session(seed, number, with_model=True) for number in range(SESSIONS)]
    # Those of forks and further chats first: their names begin with the names of other turns.
    others = [more for plan in plans for more in (plan.fork, plan.chat) if more is not None]
    turns = [one for plan in (*others, *plans) for one in plan.exchanges]
    fixtures = [fixture for one in turns for fixture in _fixtures(one)]
    with model_service(folder, fixtures, llm={"latency": 1, "chunkSize": 12}) as service:
        yield service.url


def _fixtures(one: Exchange) -> Iterator[Any]:
    """Return what the model says in each step of a turn."""
    match: Any = {"userMessage": one.text, "hasToolResult": False}
    for place, moves in enumerate(_steps(moves_of(one.text))):
        said: Any = {
            "content": "".join(move.text for move in moves if isinstance(move, Say)),
            "reasoning": "".join(move.text for move in moves if isinstance(move, Think)),
            "finishReason": "length" if any(isinstance(move, Stop) for move in moves) else "",
            "toolCalls": [
                {"id": f"call-{one.name}-{place}-{n}", "name": name, "arguments": {"text": text}}
                for move in moves
                if isinstance(move, Use)
                for n, (name, text) in enumerate(move.calls)
            ],
        }
        yield {"match": match, "response": {key: value for key, value in said.items() if value}}
        match = {"toolCallId": said["toolCalls"][-1]["id"]} if said["toolCalls"] else None


def _steps(moves: list[Move]) -> Iterator[list[Move]]:
    """Part the moves after those that use tools."""
    step: list[Move] = []
    for move in moves:
        step.append(move)
        if isinstance(move, Use):
            yield step
            step = []
    yield step
