"""
parquet-testing (https://github.com/apache/parquet-testing) through io.PandasDataFrame: what comes back as an Arrow
stream is compared with what pyarrow reads.

    python3 -m venv .venv && .venv/bin/pip install pyarrow==25.0.0
    .venv/bin/python test/conformance/parquet_testing.py FOLDER
"""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
from suite import ROOT, Report, Server, arguments, version_of
from tables import STREAM, columns_of, difference, read_answer

args = arguments()
report = Report(
    "parquet-testing",
    "github.com/apache/parquet-testing",
    version_of(args),
    f"A file must hold the values that pyarrow {pa.__version__} reads. One that pyarrow refuses must get 200 or 400.",
)


def reference(path):
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError, ValueError):
        return None
    return table


with Server("serve", ROOT / "test/conformance/echo.service.ts") as server:
    for path in sorted(args.folder.rglob("*.parquet*")):
        if path.suffix not in (".parquet", ".encrypted"):
            continue
        name = path.relative_to(args.folder).as_posix()
        wanted = reference(path)
        status, answer = server.post("/table", path.read_bytes(), "application/octet-stream", STREAM)
        detail = json.loads(answer)["detail"] if status == 400 else ""
        if status not in (200, 400):
            report.failed(name, f"{status} {answer[:300]}")
        elif wanted is None:
            report.right("read here and not by pyarrow" if status == 200 else "refused by both")
        elif status == 400:
            report.refused(f"refused, {re.sub('^.*? received one ', '', detail)}", path.name)
        elif (found := difference(columns_of(wanted), columns_of(read_answer(answer)))) is not None:
            report.failed(name, found)
        else:
            report.right("read with pyarrow's values")
report.publish()
