"""Whether sandboxes can be here, for the tests that need them."""

import pytest

from agenthost.host.sandbox.bubblewrap import find_fault

FAULT = find_fault()

BOXED = pytest.mark.skipif(FAULT is not None, reason=FAULT or "")
