"""Settings of all tests: properties take the time they need, and where it counts draw the same each run.

`./check fast` draws fewer examples: `--hypothesis-profile fast`.
"""

import os

from hypothesis import settings

settings.register_profile("agenthost", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.register_profile("fast", settings.get_profile("agenthost"), max_examples=4)
settings.load_profile("agenthost")
