"""agenthost: hosts AI agents and lets any application talk to them, over AAP and AHP.

Importing this package is cheap and starts nothing; the server, the agents and the clients are
modules of their own.
"""

from agenthost.errors import HostError, InvalidValue, NotJson, StorageError, TooLarge, ToolError

__version__ = "0.1.0.dev0"

__all__ = ["HostError", "InvalidValue", "NotJson", "StorageError", "TooLarge", "ToolError", "__version__"]
