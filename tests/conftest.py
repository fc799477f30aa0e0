"""Settings of all tests: properties take the time they need, and where it counts draw the same each run."""

import os

from hypothesis import settings

settings.register_profile("agenthost", deadline=None, derandomize="CI" in os.environ, print_blob=True)
settings.load_profile("agenthost")
