"""What the suites of tables share: pyarrow's values as plain ones, and the comparison of an answer with them."""

import decimal
import io
import math

import pyarrow as pa

STREAM = "application/vnd.apache.arrow.stream"
NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def plain(scalar, inside=False):
    """
    A value that compares with `==`. What docs/guide/descriptors/frame.md says to differ is made equal: maps are lists
    of objects, decimals in lists and objects are floats, and times are counted in nanoseconds.
    """
    kind = scalar.type
    if isinstance(scalar, pa.ExtensionScalar):
        return plain(scalar.value, inside) if scalar.is_valid else None
    if not scalar.is_valid:
        return None
    if pa.types.is_dictionary(kind):
        return plain(scalar.dictionary[scalar.index.as_py()], inside)
    if pa.types.is_struct(kind):
        return [(kind.field(at).name, plain(scalar[at], True)) for at in range(kind.num_fields)]
    if pa.types.is_map(kind):
        entries = scalar.values
        return [
            [("key", plain(key, True)), ("value", plain(value, True))]
            for key, value in zip(entries.field(0), entries.field(1))
        ]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [plain(item, True) for item in scalar.values]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return scalar.value * NANOS[kind.unit]
    if pa.types.is_date32(kind):
        return scalar.value
    if pa.types.is_date64(kind):
        return scalar.value // 86_400_000
    value = scalar.as_py()
    if isinstance(value, decimal.Decimal) and inside:
        value = float(value)
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    return value


def columns_of(table):
    """The columns of a table as plain values, in order: (name, values)."""
    return [
        (field.name, [plain(value) for chunk in column.chunks for value in chunk])
        for field, column in zip(table.schema, table.columns)
    ]


def read_answer(body):
    """The table of an answer."""
    return pa.ipc.open_stream(io.BytesIO(body)).read_all()


def difference(wanted, got):
    """What differs between two tables as plain values; undefined where nothing does."""
    if [name for name, _ in wanted] != [name for name, _ in got]:
        return f"columns {[name for name, _ in got]} instead of {[name for name, _ in wanted]}"
    for (name, values), (_, others) in zip(wanted, got):
        if len(values) != len(others):
            return f"{len(others)} rows in {name!r} instead of {len(values)}"
        for row, (value, other) in enumerate(zip(values, others)):
            if value != other:
                return f"{name!r}[{row}] is {other!r} instead of {value!r}"
    return None
