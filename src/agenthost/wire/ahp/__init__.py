"""AHP 0.1.0: every type that travels. Open objects: keys that we do not know stay where they are."""

from typing import Final

PROTOCOL_VERSION: Final = "0.1.0"

ROOT_URI: Final = "agenthost:/root"
"""The one resource that is always there."""
