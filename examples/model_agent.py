"""A model with your own tool: `OPENAI_API_KEY=… ./run serve examples/model_agent.py`.

With your own server: `MODEL=llama3.2 BASE_URL=http://127.0.0.1:11434/v1 ./run serve …`.
"""

import os

from agenthost import ModelAgent, tool

TIDES = {"Brest": "high at 17:20", "Cuxhaven": "low at 16:05"}


@tool(read_only=True)
def tide(harbour: str) -> str:
    """Tell when the next tide is at a harbour."""
    return TIDES.get(harbour, f"nobody knows about {harbour}; ask for {' or '.join(TIDES)}")


pilot = ModelAgent(
    "pilot",
    model=os.environ.get("MODEL", "openai:gpt-5"),
    base_url=os.environ.get("BASE_URL"),
    system="You are a pilot who knows the tides. Look them up, and answer in one sentence.",
    settings={"max_tokens": 2_000, "thinking": "low"},
    title="Pilot",
    tools=[tide],
)
