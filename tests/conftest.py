"""Settings of all tests: properties take the time they need, and where it counts draw the same each run.

`./check` draws fewer examples than `./check long`, and `./check fast` fewer still: `--hypothesis-profile`.
"""

import os
import signal

from hypothesis import settings

# A run in the background ignores Ctrl-C, and so would every server and command that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("agenthost", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.register_profile("check", settings.get_profile("agenthost"), max_examples=25)
settings.register_profile("fast", settings.get_profile("agenthost"), max_examples=4)
settings.load_profile("agenthost")
