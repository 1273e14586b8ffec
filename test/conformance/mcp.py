"""
`@modelcontextprotocol/conformance` (`npm install @modelcontextprotocol/conformance@0.1.16`) against a service that has
what its scenarios for servers ask for. The suite, and the jobs of the service, need Node 22.13 or later on the PATH.

    python3 test/conformance/mcp.py node_modules/@modelcontextprotocol/conformance
"""

import json
import subprocess
import tempfile

from suite import ROOT, Report, Server, arguments

SCENARIOS = [
    *["server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio"],
    *["tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error", "tools-call-with-progress"],
    *["resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read", "prompts-list"],
    *["prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"],
    *["dns-rebinding-protection", "json-schema-2020-12", "server-sse-polling", "server-sse-multiple-streams"],
    *["tools-call-with-logging", "logging-set-level", "completion-complete", "tools-call-sampling"],
    *["tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
    *["resources-subscribe", "resources-unsubscribe"],
]
# What is not offered, by a part of the scenario's name.
DECIDED = {
    "logging": "logging is not offered",
    "completion": "completion is not offered",
    "sampling": "sampling is not offered",
    "elicitation": "elicitation is not offered",
    "subscribe": "subscriptions are not offered",
    "server-sse-polling": "streams are not resumed",
}

args = arguments()
version = args.suite_version or json.loads((args.folder / "package.json").read_text())["version"]
report = Report(
    "Model Context Protocol",
    "npm @modelcontextprotocol/conformance",
    version,
    "Each scenario for servers must pass.",
)
with tempfile.TemporaryDirectory() as jobs:
    service = ROOT / "test/conformance/mcp.service.ts"
    with Server("serve", service, "--job-store", f"sqlite:{jobs}/jobs.db") as server:
        for scenario in SCENARIOS:
            url = f"http://127.0.0.1:{server.port}/mcp"
            command = ["node", args.folder / "dist/index.js", "server", "--url", url, "--scenario", scenario]
            run = subprocess.run(command, cwd=jobs, capture_output=True, text=True, timeout=120)
            why = next((text for part, text in DECIDED.items() if part in scenario), None)
            if run.returncode == 0:
                report.right()
            elif why:
                report.refused(why, scenario)
            else:
                report.failed(scenario, (run.stdout + run.stderr)[-1500:])
report.publish()
