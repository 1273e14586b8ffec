"""Values on their way: what pack in transfer.ts makes of them, and back."""

import datetime
import io
import json
import sys

from serving_link import numpy

MAX_STACKED_BYTES = 16 * 1024
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

# numpy's names of our element types, and the type codes of their memory where the two differ.
CODES = {
    "bool": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "float16": "H", "float32": "f", "float64": "d",
}  # fmt: skip


class File(io.BytesIO):
    """A file of a request: opened by PIL, pandas and numpy as any file is."""

    def __init__(self, data, name=None, mime_type="application/octet-stream"):
        super().__init__(data)
        self.name = name
        self.mime_type = mime_type


def unpack(packed, views):
    """Returns the value that was sent."""
    # JSON has no undefined: it is left out.
    value = packed.get("value")
    for path, name, fields in packed.get("objects", ()):
        item = unpack(fields, views)
        if name in MAKERS:
            item = MAKERS[name](item, views)
        if not path:
            value = item
            continue
        at = value
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = item
    return value


def date_of(fields, _):
    ms = fields["ms"]
    return None if ms is None else EPOCH + datetime.timedelta(milliseconds=ms)


def frame_of(fields, views):
    return arrow().ipc.open_file(views[fields["data"]].bytes()).read_pandas()


def series_of(fields, views):
    frame = frame_of(fields, views)
    return frame[frame.columns[0]]


#: What makes the objects of each name, of their fields.
MAKERS = {
    "NDArray": lambda fields, views: array_of(fields["data"], fields["shape"], fields["dtype"], views),
    "python.bytes": lambda fields, views: views[fields["data"]].bytes(),
    "python.array": lambda fields, views: views[fields["data"]].array(),
    "DataFrame": frame_of,
    "Series": series_of,
    "python.date": date_of,
    "python.bigint": lambda fields, _: int(fields["text"]),
    "python.number": lambda fields, _: float(fields["text"]),
    "BinaryFile": lambda fields, views: File(views[fields["bytes"]].bytes(), fields.get("name"), fields["mimeType"]),
    "Map": lambda fields, _: dict(fields["entries"]),
    "Set": lambda fields, _: set(fields["values"]),
    "URL": lambda fields, _: fields["href"],
    "Error": lambda fields, _: RuntimeError(fields["message"]),
}


def arrow():
    try:
        import pandas  # noqa: F401
        import pyarrow.ipc
    except ModuleNotFoundError as error:
        text = f"data frames need pandas and pyarrow in the model's Python, {error.name} is not there"
        raise RuntimeError(f"{text}: add it to packages of the runner") from None
    return pyarrow


def array_of(data, shape, dtype, views):
    if dtype == "str":
        # Not numpy's own texts, which all take the memory of the longest.
        array = numpy().empty(len(data), object)
        array[:] = data
        return array.reshape(shape)
    array = views[data].array()
    return (array.view(dtype) if dtype in ("bool", "float16") else array).reshape(shape)


class Packer:
    def __init__(self, describe_error):
        self.views = []
        self.describe_error = describe_error

    def pack(self, value):
        objects = []
        plain = self.plain(value, [], objects)
        return {"value": plain, "objects": objects} if objects else {"value": plain}

    def plain(self, value, path, objects):
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            if -(2**53) < value < 2**53:
                return value
            return self.leaf("python.bigint", {"text": str(value)}, path, objects)
        if kind is float:
            if value - value == 0:
                return value
            text = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
            return self.leaf("python.number", {"text": text}, path, objects)
        if kind is dict:
            return self.members(value, path, objects)
        if kind is list or kind is tuple:
            return self.items(value, path, objects)
        return self.other(value, path, objects)

    def member(self, step, value, path, objects):
        path.append(step)
        plain = self.plain(value, path, objects)
        path.pop()
        return plain

    def items(self, values, path, objects):
        return [self.member(i, item, path, objects) for i, item in enumerate(values)]

    def members(self, values, path, objects):
        if not all(isinstance(name, str) for name in values):
            # Whole numbers are names in JSON, too.
            named = {str(int(name)) if hasattr(name, "__index__") else name: item for name, item in values.items()}
            if len(named) < len(values) or not all(isinstance(name, str) for name in named):
                fields = {"entries": [[name, item] for name, item in values.items()]}
                return self.leaf("Map", fields, path, objects)
            values = named
        return {name: self.member(name, item, path, objects) for name, item in values.items()}

    def leaf(self, name, fields, path, objects, data=None):
        """Adds an object with those fields, and with the memory `data` as its first view."""
        packed = self.pack(fields)
        if data is not None:
            packed["value"]["data"] = len(self.views)
            self.views.append(data)
        objects.append((list(path), name, packed))

    def other(self, value, path, objects):
        np = sys.modules.get("numpy")
        if np is not None and isinstance(value, np.ndarray):
            return self.array(value, path, objects, np)
        if np is not None and isinstance(value, np.generic):
            # A longdouble stays one as an item.
            own = float(value) if isinstance(value, np.floating) else value.item()
            return self.plain(own, path, objects)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self.leaf("python.bytes", {}, path, objects, ("B", memoryview(value).cast("B")))
        if isinstance(value, Exception):
            return self.leaf("python.failure", self.describe_error(value), path, objects)
        if isinstance(value, datetime.datetime):
            return self.leaf("python.date", {"ms": value.timestamp() * 1000}, path, objects)
        if isinstance(value, datetime.date):
            return value.isoformat()
        if isinstance(value, (set, frozenset)):
            return self.leaf("Set", {"values": list(value)}, path, objects)
        for base in (dict, list, tuple, str, int, float):
            if isinstance(value, base):
                return self.plain(base(value), path, objects)
        pandas = sys.modules.get("pandas")
        if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
            return self.frame(value, pandas, path, objects)
        if hasattr(value, "__array__"):
            return self.array(numpy().asarray(value), path, objects, numpy())
        what = "arrays, numbers, text, bytes, times, lists, dicts or sets"
        raise TypeError(f"expected {what} as the result, received {kind_of(value)} at {show(path)}")

    def frame(self, value, pandas, path, objects):
        """A frame crosses as an Arrow file, without its index."""
        pa = arrow()
        name = "DataFrame"
        if isinstance(value, pandas.Series):
            name, value = "Series", value.to_frame(str(value.name if value.name is not None else ""))
        value = value.rename(columns=str)
        table = pa.Table.from_pandas(value, preserve_index=False).replace_schema_metadata(None)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as file:
            file.write_table(table)
        return self.leaf(name, {}, path, objects, ("B", memoryview(sink.getvalue())))

    def array(self, array, path, objects, np):
        name = array.dtype.name
        fields = {"shape": list(array.shape), "dtype": name}
        if array.dtype.kind in "OUT":
            fields["data"] = [text_of(item, path) for item in array.ravel().tolist()]
            return self.leaf("NDArray", {**fields, "dtype": "str"}, path, objects)
        code = CODES.get(name)
        if code is None:
            known = ", ".join([*CODES, "str"])
            raise TypeError(f"expected an array of {known} as the result, received {name} at {show(path)}")
        # Contiguous, of this machine's byte order.
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        memory = memoryview(array.reshape(-1).view("u1")) if array.size else memoryview(b"")
        return self.leaf("NDArray", fields, path, objects, (code, memory))


def kind_of(value):
    return f"an object of class {type(value).__module__}.{type(value).__qualname__}"


def show(path):
    return "".join(f"[{json.dumps(step)}]" for step in path) or "its top"


def text_of(item, path):
    if isinstance(item, str):
        return item
    raise TypeError(f"expected texts in an array of objects as the result, received {kind_of(item)} at {show(path)}")


def stacked(results):
    """Returns many small arrays of one kind as one; None for anything else."""
    np = sys.modules.get("numpy")
    if len(results) < 2 or np is None or type(results[0]) is not np.ndarray:
        return None
    first = results[0]
    if first.dtype.name not in CODES or first.nbytes >= MAX_STACKED_BYTES:
        return None
    alike = (type(each) is np.ndarray and (each.dtype, each.shape) == (first.dtype, first.shape) for each in results)
    return np.stack(results) if all(alike) else None
