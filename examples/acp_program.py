"""Serve a program that speaks ACP: `ACP_COMMAND="gemini --acp" ./run python examples/acp_program.py`.

Its tool calls are shown and approved like those of any agent, over both protocols: see docs/acp.md.
"""

import os

from agenthost import Host
from agenthost.agents.acp import AcpAgent

KEYS = ("GEMINI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")

host = Host()
host.add(
    AcpAgent(
        "helper",
        os.environ.get("ACP_COMMAND", "gemini --acp"),
        title="Helper",
        env={name: f"${name}" for name in KEYS if name in os.environ},  # it gets no others
    )
)
host.serve(port=8787)
