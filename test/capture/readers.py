"""Reads a folder of captured calls by pandas, Polars and DuckDB, and prints what each of them has read, as JSON."""

import json
import sys
from datetime import datetime

import duckdb
import pandas
import polars


def plain(value):
    if isinstance(value, datetime):
        return int(value.timestamp() * 1000)
    if isinstance(value, bytes):
        return value.hex()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return None if value is pandas.NaT or value != value else value


def rows(records):
    return sorted(
        ({key: plain(value) for key, value in record.items() if plain(value) is not None} for record in records),
        key=lambda row: row["request_id"],
    )


folder = sys.argv[1]
connection = duckdb.connect()
found = connection.sql(f"SELECT * FROM '{folder}/*.parquet'")
names = [name for name, *_ in found.description]
print(
    json.dumps(
        {
            "pandas": rows(pandas.read_parquet(folder).to_dict("records")),
            "polars": rows(polars.read_parquet(f"{folder}/*.parquet").to_dicts()),
            "duckdb": rows(dict(zip(names, row)) for row in found.fetchall()),
        }
    )
)
