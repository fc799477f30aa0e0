"""Arbitrary requests to a running server: every answer is in the OpenAPI document, and none is a 5xx."""

import json
import subprocess
import sys
from pathlib import Path

from rules import rule
from serving import ask, serving, wait_ready

SECONDS = 15
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "use_after_free",
)


@rule("X14")
def test_every_answer_to_any_request_is_documented(tmp_path: Path) -> None:
    with serving("--data", tmp_path / "data", "--workspace", tmp_path) as served:
        url = served.wait_url()
        wait_ready(url)
        document = ask(url, "/openapi.json").json
        # Names of agents and tools that there are: else hardly a request would get far.
        agents = ask(url, "/aap/v3/meta").json["agents"]
        schemas = document["components"]["schemas"]
        schemas["AgentConfig"]["properties"]["name"]["enum"] = [agent["name"] for agent in agents]
        schemas["ServerToolRef"]["properties"]["name"]["enum"] = [tool["name"] for tool in agents[0]["tools"]]
        (tmp_path / "openapi.json").write_text(json.dumps(document))
        command = Path(sys.executable).with_name("schemathesis")
        given = ["run", "openapi.json", "--url", f"{url}/aap/v3", "--max-time", str(SECONDS)]
        told = subprocess.run(
            [command, *given, "--checks", ",".join(CHECKS)],
            cwd=tmp_path,  # what it finds is kept in the folder that it runs in
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS * 6,
        )
        assert told.returncode == 0, told.stdout + told.stderr
        served.process.terminate()
        assert not [line for line in served.err.rest() if "Traceback" in line or " error " in line]
