"""
Clients that others made, unmodified, against running servers: the checks of test/oip, test/rpc and test/openai, which
say ok or WRONG for each call.

    python3 -m venv .venv && .venv/bin/pip install 'tritonclient[all]' kserve onnxruntime ml_dtypes openai
    .venv/bin/python test/conformance/clients.py --bentoml .venv-1.1.11/bin/python

test/rpc/python/bentoml_clients.py says how to make BentoML's environment; without it, its clients are left out.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from suite import ROOT, Report, arguments

args = arguments(None, bentoml=(None, "Python with BentoML"), mlserver=(None, "the program mlserver"))
names = ["tritonclient", "kserve", "openai"]
openai_js = json.loads((ROOT / "node_modules/openai/package.json").read_text())["version"]
report = Report(
    "Clients",
    "PyPI and npm",
    args.suite_version
    or ", ".join(f"{name} {version(name)}" for name in names) + f", openai for JavaScript {openai_js}",
    "Each check is one call by an unmodified client, and what the client makes of the answer.",
)


def checks(command):
    """Runs a script that prints a line for each check."""
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    lines = [re.match(r"(ok|WRONG)\s+(.*)", line) for line in run.stdout.splitlines()]
    for verdict, what in (line.groups() for line in lines if line):
        if verdict == "ok":
            report.right(re.split(r":|\s{2,}", what)[0])
        else:
            report.failed(what, "WRONG")


def openai_checks():
    """Runs the tests of the openai packages for JavaScript and Python."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        command = ["npx", "vitest", "run", "test/openai", "--reporter=json", f"--outputFile={file}"]
        subprocess.run(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False, env={**os.environ, "PYTHON": sys.executable}
        )
        for test in (
            each for suite in json.loads(file.read_text())["testResults"] for each in suite["assertionResults"]
        ):
            is_python = "Python" in test["fullName"]
            if test["status"] == "passed":
                report.right(f"openai for {'Python' if is_python else 'JavaScript'}")
            elif test["status"] == "failed":
                report.failed(test["fullName"], " ".join(test["failureMessages"]))


mlserver = ["--mlserver", args.mlserver] if args.mlserver else []
checks([sys.executable, "test/oip/python/clients.py", *mlserver])
if args.bentoml:
    checks([args.bentoml, "test/rpc/python/bentoml_clients.py"])
openai_checks()
report.publish()
