"""Programs that write more than a log should hold."""

import logging
import os
import sys
from pathlib import Path

import pytest

from agenthost.host.programs.output import MAX_LINE, MAX_LINES
from agenthost.host.programs.process import Program
from hosting import run


def test_a_program_that_floods_its_standard_error_does_not_flood_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    flood = "import sys; sys.stderr.write(('x' * 5000 + '\\n') * 2 + 'short\\n' * 50_000 + 'last words\\n')"

    async def story() -> None:
        words = [sys.executable, "-c", flood]
        program = await Program.start("flood", words, cwd=tmp_path, env=dict(os.environ))
        await program.wait()
        await program.end()
        assert program.stderr_tail.endswith("last words")

    with caplog.at_level(logging.INFO, "agenthost.programs"):
        run(story)
    lines = [record.getMessage() for record in caplog.records if record.name == "agenthost.programs"]
    assert len(lines) == MAX_LINES + 2
    assert max(map(len, lines)) <= MAX_LINE + len("flood: ")
    assert lines[-2] == "flood writes too much to log; more lines are only counted"
    assert lines[-1] == f"flood: {50_003 - MAX_LINES} lines were left out of this log"
