"""
Autobahn's test suite against live streams on both engines, by test/soak/autobahn.ts. The suite needs Python 2.7.

    python2.7 -m virtualenv .wstest && .wstest/bin/pip install autobahntestsuite
    python3 test/conformance/autobahn.py --wstest ".wstest/bin/python -m autobahntestsuite.wstest"
"""

import json
import re
import subprocess

from suite import ROOT, Report, arguments

args = arguments(None, wstest=("python2.7 -m autobahntestsuite.wstest", "how to start the suite's program"))
shown = subprocess.run(
    [args.wstest.split()[0], "-m", "pip", "show", "autobahntestsuite"], capture_output=True, text=True, check=False
)
found = re.search(r"^Version: (.*)$", shown.stdout, re.MULTILINE)
report = Report(
    "Autobahn",
    "PyPI autobahntestsuite",
    args.suite_version or (found[1] if found else "unknown"),
    "All cases, once for each engine. Both engines negotiate no compression, which the suite calls unimplemented.",
)
command = ["npx", "tsx", "test/soak/autobahn.ts", "--json", "--cases", "*", "--wstest", args.wstest]
# It exits with 1 where a case failed.
run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
for engine, verdicts in json.loads(run.stdout).items():
    for case, verdict in verdicts.items():
        seen = verdict["behavior"]
        if seen == "UNIMPLEMENTED":
            report.refused("no compression of messages (`permessage-deflate`)", f"{case.split('.')[0]}.*")
        elif seen in ("OK", "NON-STRICT", "INFORMATIONAL") and verdict["behaviorClose"] in ("OK", "INFORMATIONAL"):
            report.right(f"{engine}: {seen.lower()}")
        else:
            report.failed(f"{engine} {case}", f"{seen}, closed {verdict['behaviorClose']}")
report.publish()
