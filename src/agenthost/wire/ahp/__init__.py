"""AHP 1.0: every type on the wire. Objects are open: unknown keys are kept. `legacy` has those of 0.1.0."""

from typing import Final

PROTOCOL_VERSION: Final = "1.0.0"

ROOT_URI: Final = "ahp-root://"
"""The channel of the host itself, which always exists."""

AUTOMATIONS_URI: Final = "ahp-automations://"
"""The channel of the automations, where a host offers them."""
