"""
JSONTestSuite (https://github.com/nst/JSONTestSuite) through io.JSON; values are compared with Python's json.

    python3 test/conformance/json_test_suite.py FOLDER
"""

import json

from suite import ROOT, Report, Server, arguments, version_of

# Where the suite wants something else than the documentation promises.
DECIDED = {"n_structure_no_data.json": "an empty body is `null`, as BentoML's client sends it"}

args = arguments()
report = Report(
    "JSONTestSuite",
    "github.com/nst/JSONTestSuite",
    version_of(args),
    "`y_` must be read with the values of Python's json, and `n_` must get 400. `i_` may be either, with an answer of "
    "200 or 400. The files of `test_transform` are read or refused.",
)


def same_as_python(body, answer):
    try:
        return json.loads(body) == json.loads(answer)
    except ValueError as error:
        return error


with Server("serve", ROOT / "test/conformance/echo.service.ts") as server:
    for path in sorted([*args.folder.glob("test_parsing/*.json"), *args.folder.glob("test_transform/*.json")]):
        body = path.read_bytes()
        status, answer = server.post("/json", body, "application/json")
        group = path.name[:2] if path.parent.name == "test_parsing" else "test_transform"
        if status not in (200, 400) or group == "y_" and (status != 200 or same_as_python(body, answer) is not True):
            report.failed(path.name, f"{status} {answer[:200]}")
        elif group == "n_" and status != 400 and path.name in DECIDED:
            report.refused(f"read: {DECIDED[path.name]}", path.name)
        elif group == "n_" and status != 400:
            report.failed(path.name, f"{status} {answer[:200]}")
        else:
            report.right(f"`{group}` {'read' if status == 200 else 'refused with 400'}")
report.publish()
