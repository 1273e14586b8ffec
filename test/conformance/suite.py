"""
What the scripts of this folder share: they start a real server, send it the files of a suite that others made, and
write their section of docs/reference/conformance.md. Each prints "N of M", and exits with 1 when an answer was wrong.

Run one by `npm run build`, then `.venv/bin/python test/conformance/json_test_suite.py FOLDER`. The head of each script
names its packages and the suite. `--suite-version` says what the folder is, where it is no clone with a history.
"""

import argparse
import datetime
import http.client
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/conformance.md"


def arguments(folder="the suite's folder", **more):
    """Reads the command line: a folder where the suite has one, its version, and what `more` names."""
    parser = argparse.ArgumentParser()
    if folder is not None:
        parser.add_argument("folder", type=Path, help=folder)
    parser.add_argument("--suite-version", help="what the page says of the suite's version")
    for name, (default, help) in more.items():
        parser.add_argument(f"--{name}", default=default, help=help)
    return parser.parse_args()


def version_of(args):
    """The version that was given, or else the commit of the folder."""
    if args.suite_version:
        return args.suite_version
    command = ["git", "-C", str(args.folder), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Server:
    """`serving` with these arguments, in a process of its own: `with Server("serve", FILE) as server`."""

    def __init__(self, *command):
        self.command = ["node", "dist/cli/main.js", *map(str, command), "--port", "0", "--host", "127.0.0.1"]
        self.command += ["--workers", "1", "--log-level", "fatal", "--max-body-bytes", "268435456"]
        self.port = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://\S*?:(\d+)", line):
                self.port = int(found[1])
                return self
        raise SystemExit("the server did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def post(self, path, body, content_type, accept=None):
        """Sends a body; returns status and body of the answer. A connection that breaks is status 0."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"content-type": content_type, **({"accept": accept} if accept else {})}
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, repr(error).encode()
        finally:
            connection.close()


class Report:
    """The verdicts of one suite, which become a section of the page."""

    def __init__(self, name, url, version, question):
        self.name, self.url, self.version, self.question = name, url, version, question
        self.passed = self.total = 0
        self.wrong = []
        self.notes = Counter()
        self.refusals = {}

    def right(self, note=None):
        """Counts an answer that is right; `note` says what is worth a line of the table."""
        self.total += 1
        self.passed += 1
        if note:
            self.notes[note] += 1

    def refused(self, why, name):
        """Counts an answer that the suite does not want, and that has a reason; `name` is the file."""
        self.total += 1
        self.refusals.setdefault(why, []).append(name)

    def failed(self, what, seen):
        """Counts a wrong answer."""
        self.total += 1
        self.wrong.append((what, str(seen)))

    def publish(self):
        """Prints the counts, writes the section, and ends the script."""
        today = datetime.date.today().isoformat()
        script = Path(sys.argv[0]).resolve().relative_to(ROOT)
        print(f"{self.name}: {self.passed} of {self.total}")
        rows = [(what, count, "") for what, count in sorted(self.notes.items(), key=lambda row: (-row[1], row[0]))]
        rows += [(f"**not as the suite wants:** {cell(why)}", len(each), each) for why, each in self.refusals.items()]
        rows += [(f"**wrong:** {cell(seen)}", 1, [what]) for what, seen in self.wrong]
        rows = [(what, count, ", ".join(f"`{name}`" for name in dict.fromkeys(names))) for what, count, names in rows]
        for row in rows:
            print("  {1:5} {0} {2}".format(*row))
        table = ["| outcome | count | files |", "|---|--:|---|", *("| {} | {} | {} |".format(*row) for row in rows)]
        lines = [
            f"## {self.name}",
            "",
            f"**{self.passed} of {self.total}** on {today}. Suite: {self.url}, {self.version}. Script: `{script}`.",
            "",
            self.question,
            "",
            *(table if rows else []),
        ]
        write_section(self.name, "\n".join(lines))
        sys.exit(1 if self.wrong else 0)


def cell(text):
    """A text that fits into a cell of a table."""
    return re.sub(r"[|<>\s]+", " ", text)[:160]


def write_section(name, text):
    """Writes a section between its marks, in the place that it has or at the end, and the summary above all."""
    page = PAGE.read_text()
    start, end = f"<!-- suite: {name} -->", "<!-- /suite -->"
    section = f"{start}\n{text}\n{end}"
    if start in page:
        at = page.index(start)
        page = page[:at] + section + page[page.index(end, at) + len(end) :]
    else:
        page = f"{page.rstrip()}\n\n{section}\n"
    counts = re.findall(r"^## (.+)\n\n\*\*(\d+ of \d+)\*\* on (\S+)\.", page, re.MULTILINE)
    summary = ["| suite | result | run on |", "|---|--:|---|", *(f"| {' | '.join(row)} |" for row in counts)]
    marks = "<!-- summary -->", "<!-- /summary -->"
    head, rest = page[: page.index(marks[0])], page[page.index(marks[1]) :]
    PAGE.write_text("\n".join([head + marks[0], *summary, rest]))
