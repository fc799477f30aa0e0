"""A first agent: it tells the time, with a tool that the host runs.

`./run python examples/timekeeper.py`
"""

from datetime import datetime
from zoneinfo import ZoneInfo

from agenthost import Host, Turn

host = Host()


def clock(zone: str = "UTC") -> str:
    """Tell the time in a time zone."""
    return f"{datetime.now(ZoneInfo(zone)):%H:%M}"


@host.agent("timekeeper", tools=[clock])
async def timekeeper(turn: Turn) -> None:
    """Tell the time anywhere."""
    await turn.say("One moment. ")
    time = await turn.call("clock", zone=turn.text)  # asks first, unless trusted
    await turn.say(f"It is {time}.")


host.serve(port=8787)
