"""AHP 0.1.0: every type on the wire. Objects are open: unknown keys are kept."""

from typing import Final

PROTOCOL_VERSION: Final = "0.1.0"

ROOT_URI: Final = "agenthost:/root"
"""The one resource that always exists."""
