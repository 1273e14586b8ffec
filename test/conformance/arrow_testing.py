"""
arrow-testing (https://github.com/apache/arrow-testing) through io.PandasDataFrame: Arrow files and streams of many
versions, and files that fuzzers made. What comes back as an Arrow stream is compared with what pyarrow reads.

    python3 -m venv .venv && .venv/bin/pip install pyarrow==26.0.1
    .venv/bin/python test/conformance/arrow_testing.py FOLDER
"""

import json
import re

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from suite import ROOT, Report, Server, arguments, version_of
from tables import STREAM, columns_of, difference, read_answer

# Where pyarrow's values are not those that count here.
DECIDED = {
    "fuzz-6088759971217408": "the schema at its head counts, which its fuzzer made differ from the copy at its end",
}
FILE, PARQUET = "application/vnd.apache.arrow.file", "application/octet-stream"

args = arguments()
report = Report(
    "arrow-testing",
    "github.com/apache/arrow-testing",
    version_of(args),
    f"A file of `integration` must hold the values that pyarrow {pa.__version__} reads. The files of fuzzers must get "
    "200 or 400, and pyarrow's values if the server reads them and pyarrow finds them valid. Avro, ORC, Flight and "
    "tensor streams are left out.",
)


def csv_texts(path):
    """The cells of a CSV file as texts."""
    names = pa.csv.open_csv(path).schema.names
    options = pa.csv.ConvertOptions(column_types={name: pa.string() for name in names}, strings_can_be_null=True)
    return pa.csv.read_csv(path, convert_options=options)


def read(path, kind):
    if kind == STREAM:
        return pa.ipc.open_stream(path).read_all()
    if kind == FILE:
        return pa.ipc.open_file(path).read_all()
    return pq.ParquetFile(path).read() if kind == PARQUET else csv_texts(path)


def reference(path, kind):
    try:
        table = read(path, kind)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        return None
    return table


def files():
    """Each file with its media type."""
    for path in sorted(each for each in args.folder.glob("data/**/*") if each.is_file()):
        folder = path.relative_to(args.folder / "data").as_posix()
        if path.name.endswith((".md", ".gz")) or path.name.startswith("."):
            continue
        if path.name.endswith((".arrow_file", ".arrow")) or folder.startswith("arrow-ipc-file/"):
            yield path, FILE
        elif folder.startswith("arrow-ipc-stream/"):
            yield path, STREAM
        elif folder.startswith("parquet/") and path.read_bytes()[:4] in (b"PAR1", b"PARE"):
            yield path, PARQUET
        elif folder.startswith("csv/"):
            yield path, "text/csv"


def version_and_name(path):
    return f"{path.parent.name}/{path.stem.removeprefix('generated_')}"


with Server("serve", ROOT / "test/conformance/echo.service.ts") as server:
    for path, kind in files():
        name = path.relative_to(args.folder / "data").as_posix()
        is_fuzz = "integration" not in name and not name.endswith((".csv", ".arrow"))
        wanted = reference(path, kind)
        status, answer = server.post("/csv" if kind == "text/csv" else "/table", path.read_bytes(), kind, STREAM)
        if status not in (200, 400):
            report.failed(name, f"{status} {answer[:300]}")
        elif wanted is None:
            whose = "fuzzers" if is_fuzz else "`integration`"
            report.right(f"of {whose}, not read by pyarrow: {'read' if status == 200 else 'refused'} here")
        elif status == 400:
            detail = json.loads(answer)["detail"]
            if is_fuzz:
                report.right("of fuzzers, read by pyarrow: refused here")
            else:
                report.refused(f"refused, {re.sub('^.*? received one (with|of) ', '', detail)}", version_and_name(path))
        elif path.name[-21:] in DECIDED:
            report.refused(f"read, {DECIDED[path.name[-21:]]}", path.name)
        elif (found := difference(columns_of(wanted), columns_of(read_answer(answer)))) is not None:
            report.failed(name, found)
        else:
            report.right(f"{'of fuzzers, ' if is_fuzz else ''}read with pyarrow's values")
report.publish()
