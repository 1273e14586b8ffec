# Conformance

Suites that others made, against this server. Each section is written by a script that takes a folder of the suite, so anyone can repeat it:

```sh
npm run build
python3 test/conformance/json_test_suite.py FOLDER
```

The head of each script in `test/conformance` names the packages that it needs. The scripts start `serving serve` or
`serving models` and send the files over HTTP, gRPC or WebSockets.

<!-- summary -->
| suite | result | run on |
|---|--:|---|
| JSONTestSuite | 339 of 340 | 2026-11-28 |
| csv-spectrum | 9 of 12 | 2026-11-28 |
| parquet-testing | 229 of 233 | 2026-11-28 |
| arrow-testing | 326 of 391 | 2026-11-28 |
| Autobahn | 602 of 1034 | 2026-11-28 |
| Clients | 195 of 195 | 2026-11-28 |
<!-- /summary -->

<!-- suite: JSONTestSuite -->
## JSONTestSuite

**339 of 340** on 2026-11-28. Suite: github.com/nst/JSONTestSuite, 1ef36fa of 2024-11-22. Script: `test/conformance/json_test_suite.py`.

`y_` must be read with the values of Python's json, and `n_` must get 400. `i_` may be either, with an answer of 200 or 400. The files of `test_transform` are read or refused.

| outcome | count | files |
|---|--:|---|
| `n_` refused with 400 | 187 |  |
| `y_` read | 95 |  |
| `i_` refused with 400 | 21 |  |
| `test_transform` read | 16 |  |
| `i_` read | 14 |  |
| `test_transform` refused with 400 | 6 |  |
| **not as the suite wants:** read: an empty body is `null`, since BentoML's client sends `None` so | 1 | `n_structure_no_data.json` |
<!-- /suite -->

<!-- suite: csv-spectrum -->
## csv-spectrum

**9 of 12** on 2026-11-28. Suite: npm csv-spectrum, 2.0.0. Script: `test/conformance/csv_spectrum.py`.

Each file of CSV must become the records of the JSON file beside it, as texts.

| outcome | count | files |
|---|--:|---|
| **not as the suite wants:** an empty cell is null, as for pandas, instead of an empty text | 2 | `empty.csv`, `empty_crlf.csv` |
| **not as the suite wants:** the suite's JSON has another telephone number than its CSV | 1 | `location_coordinates.csv` |
<!-- /suite -->

<!-- suite: parquet-testing -->
## parquet-testing

**229 of 233** on 2026-11-28. Suite: github.com/apache/parquet-testing, 1a2a751 of 2026-06-11. Script: `test/conformance/parquet_testing.py`.

A file must hold the values that pyarrow 26.0.1 reads. One that pyarrow refuses must get 200 or 400.

| outcome | count | files |
|---|--:|---|
| read with pyarrow's values | 207 |  |
| refused by both | 21 |  |
| read here and not by pyarrow | 1 |  |
| **not as the suite wants:** refused, with column "a" that has a time of 96 bits before 1677 or after 2262, which is out of range, in row 2 | 1 | `int96_from_spark.parquet` |
| **not as the suite wants:** refused, that cannot be decoded: Parquet argument error: EOF: Invalid page header | 1 | `nation.dict-malformed.parquet` |
| **not as the suite wants:** refused, whose row groups have 6 rows where its footer says 0 | 1 | `repeated_no_annotation.parquet` |
| **not as the suite wants:** refused, with column "column with unknown type" of a type that is not supported, a newer version of Parquet | 1 | `unknown-logical-type.parquet` |
<!-- /suite -->

<!-- suite: arrow-testing -->
## arrow-testing

**326 of 391** on 2026-11-28. Suite: github.com/apache/arrow-testing, 9cfebfe of 2026-05-12. Script: `test/conformance/arrow_testing.py`.

A file of `integration` must hold the values that pyarrow 26.0.1 reads. The files of fuzzers must get 200 or 400, and pyarrow's values where pyarrow finds them valid. Avro, ORC, Flight and tensor streams are left out.

| outcome | count | files |
|---|--:|---|
| of fuzzers, not read by pyarrow: refused here | 193 |  |
| read with pyarrow's values | 104 |  |
| of `integration`, not read by pyarrow: refused here | 13 |  |
| of fuzzers, read by pyarrow: refused here | 6 |  |
| of fuzzers, read with pyarrow's values | 5 |  |
| of `integration`, not read by pyarrow: read here | 4 |  |
| of fuzzers, not read by pyarrow: read here | 1 |  |
| **not as the suite wants:** read, the schema at its head counts, which its fuzzer made differ from the copy at its end | 1 | `clusterfuzz-testcase-minimized-arrow-ipc-file-fuzz-6088759971217408` |
| **not as the suite wants:** refused, column "f1" that has a time out of range in row 4 | 2 | `0.14.1/interval` |
| **not as the suite wants:** refused, two columns "sparse" | 4 | `0.17.1/union`, `1.0.0-littleendian/union` |
| **not as the suite wants:** refused, big-endian numbers, which are not supported | 38 | `1.0.0-bigendian/custom_metadata`, `1.0.0-bigendian/dictionary`, `1.0.0-bigendian/dictionary_unsigned`, `1.0.0-bigendian/duplicate_fieldnames`, `1.0.0-bigendian/extension`, `1.0.0-bigendian/interval`, `1.0.0-bigendian/map`, `1.0.0-bigendian/map_non_canonical`, `1.0.0-bigendian/nested`, `1.0.0-bigendian/nested_dictionary`, `1.0.0-bigendian/nested_large_offsets`, `1.0.0-bigendian/null`, `1.0.0-bigendian/null_trivial`, `1.0.0-bigendian/primitive`, `1.0.0-bigendian/primitive_large_offsets`, `1.0.0-bigendian/primitive_no_batches`, `1.0.0-bigendian/primitive_zerolength`, `1.0.0-bigendian/recursive_nested`, `1.0.0-bigendian/union` |
| **not as the suite wants:** refused, two columns "ints" | 4 | `1.0.0-littleendian/duplicate_fieldnames`, `cpp-21.0.0/duplicate_fieldnames` |
| **not as the suite wants:** refused, column "f1" that has a time out of range in row 0 | 4 | `1.0.0-littleendian/interval`, `cpp-21.0.0/duration` |
| **not as the suite wants:** refused, column "f2" of a type that is not supported, decimal of Arrow | 2 | `cpp-21.0.0/decimal256` |
| **not as the suite wants:** refused, column "f5" of a type that is not supported, interval of Arrow | 2 | `cpp-21.0.0/interval` |
| **not as the suite wants:** refused, column "f1" of a type that is not supported, interval of Arrow | 2 | `cpp-21.0.0/interval_mdn` |
| **not as the suite wants:** refused, column "lv" of a type that is not supported, listView of Arrow | 2 | `cpp-21.0.0/list_view` |
| **not as the suite wants:** refused, column "ree16_int32" of a type that is not supported, runEndEncoded of Arrow | 2 | `cpp-21.0.0/run_end_encoded` |
| **not as the suite wants:** refused, column "sparse_1" of a type that is not supported, union of Arrow | 2 | `cpp-21.0.0/union` |
<!-- /suite -->

<!-- suite: Autobahn -->
## Autobahn

**602 of 1034** on 2026-11-28. Suite: PyPI autobahntestsuite, 25.10.1. Script: `test/conformance/autobahn.py`.

All cases, once for each engine. Both engines negotiate no compression, which the suite calls unimplemented.

| outcome | count | files |
|---|--:|---|
| node: ok | 285 |  |
| uws: ok | 285 |  |
| node: non-strict | 13 |  |
| uws: non-strict | 13 |  |
| node: informational | 3 |  |
| uws: informational | 3 |  |
| **not as the suite wants:** no compression of messages (`permessage-deflate`) | 432 | `12.*`, `13.*` |
<!-- /suite -->

<!-- suite: Clients -->
## Clients

**195 of 195** on 2026-11-28. Suite: PyPI and npm, tritonclient 2.73.0, kserve 0.21.0, openai 3.57.0, openai for JavaScript 6.49.0. Script: `test/conformance/clients.py`.

Each check is one call by an unmodified client, and what the client makes of the answer.

| outcome | count | files |
|---|--:|---|
| openai for JavaScript | 49 |  |
| tritonclient.http | 40 |  |
| tritonclient.grpc | 31 |  |
| Client.from_url | 20 |  |
| SyncHTTPClient | 20 |  |
| AsyncHTTPClient | 18 |  |
| tritonclient.http.aio | 6 |  |
| kserve InferenceRESTClient | 4 |  |
| tritonclient.grpc.aio | 3 |  |
| kserve InferenceGRPCClient | 2 |  |
| kserve | 1 |  |
| openai for Python | 1 |  |
<!-- /suite -->
