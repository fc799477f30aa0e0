"""The agents that the nodes serve: those of the crash tests, and their tools that must not run twice."""

import os
from pathlib import Path

from crash.agents import make_agents

talker, stepper = make_agents(Path(os.environ["CLUSTER_NOTES"]), None)
