"""
csv-spectrum (`npm install csv-spectrum`, a development dependency) through io.PandasDataFrame with `dtype: false`;
records are compared with the suite's own JSON.

    python3 test/conformance/csv_spectrum.py node_modules/csv-spectrum
"""

import json

from suite import ROOT, Report, Server, arguments

EMPTY = "an empty cell is null, as for pandas, instead of an empty text"
# Where the suite wants something else than the documentation promises.
DECIDED = {
    "empty.csv": EMPTY,
    "empty_crlf.csv": EMPTY,
    "location_coordinates.csv": "the suite's JSON has another telephone number than its CSV",
}

args = arguments()
version = args.suite_version or json.loads((args.folder / "package.json").read_text())["version"]
report = Report(
    "csv-spectrum",
    "npm csv-spectrum",
    version,
    "Each file of CSV must become the records of the JSON file beside it, as texts.",
)
with Server("serve", ROOT / "test/conformance/echo.service.ts") as server:
    for path in sorted(args.folder.glob("csvs/*.csv")):
        wanted = json.loads((args.folder / "json" / f"{path.stem}.json").read_text())
        status, answer = server.post("/csv", path.read_bytes(), "text/csv", "application/json")
        if status == 200 and json.loads(answer) == wanted:
            report.right()
        elif status == 200 and path.name in DECIDED:
            report.refused(DECIDED[path.name], path.name)
        else:
            report.failed(path.name, f"{status} {answer[:300]} instead of {json.dumps(wanted)[:300]}")
report.publish()
