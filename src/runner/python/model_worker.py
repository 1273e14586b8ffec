"""Runs a model for a Runner of serving: python-workers.ts starts it and sends calls over a socket.

Messages are frames (see frames.ts): a header of JSON, and arrays behind it or in a shared file. File descriptors:
0 is open as long as the server lives, 1 and 2 are its log, 3 is the socket, 4 and 5 are the shared files, of
arguments and of results. Needs the standard library alone, and numpy where a call has arrays.
"""

import datetime
import fcntl
import importlib.util
import inspect
import io
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import types
import urllib.parse
import weakref
from collections import deque

MIN_SHARED_BYTES = 64 * 1024  # as in frames.ts
ALIGNMENT = 64
KEPT_BYTES = 64 * 1024 * 1024
MAX_STACKED_BYTES = 16 * 1024

# numpy's names of our element types, and the type codes of their memory where the two differ.
CODES = {
    "bool": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
    "float16": "H", "float32": "f", "float64": "d",
}  # fmt: skip
MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}


def numpy():
    """Returns numpy, imported by the first array."""
    global numpy
    try:
        import numpy as module
    except ModuleNotFoundError:
        raise RuntimeError("arrays need numpy in the model's Python: add it to packages of the runner") from None
    numpy = lambda: module  # noqa: E731
    return module


class SharedReader:
    """The file that the server writes arguments into. Arrays lie in it until nothing refers to them."""

    def __init__(self, fd):
        self.fd = fd
        self.mapping = None
        self.held = {}
        #: Arrays of any thread may end at any time.
        self.freed = deque()

    def view(self, start, length):
        if self.mapping is None or len(self.mapping) < start + length:
            # Arrays in the old mapping keep it.
            self.mapping = mmap.mmap(self.fd, os.fstat(self.fd).st_size)
        return memoryview(self.mapping)[start : start + length]

    def hold(self, array, start):
        """Frees a block once the array that owns it, and with it every view of it, is gone."""

        def free(_):
            del self.held[start]
            self.freed.append(start)

        self.held[start] = weakref.ref(array, free)

    def take_freed(self):
        return [self.freed.popleft() for _ in range(len(self.freed))]


class SharedWriter:
    """The file that the server reads results from."""

    def __init__(self, fd):
        self.fd = fd
        self.blocks = []

    def write(self, data):
        """Copies memory into a free block and returns where it begins; None where there is no room."""
        start, place = 0, 0
        while place < len(self.blocks) and self.blocks[place][0] - start < len(data):
            start = -(-self.blocks[place][1] // ALIGNMENT) * ALIGNMENT
            place += 1
        try:
            at = 0
            while at < len(data):
                at += os.pwrite(self.fd, data[at:], start + at)
        except OSError:
            return None
        self.blocks.insert(place, (start, start + len(data)))
        return start

    def free(self, starts):
        if not starts:
            return
        self.blocks = [block for block in self.blocks if block[0] not in starts]
        if not self.blocks and os.fstat(self.fd).st_size > KEPT_BYTES:
            os.ftruncate(self.fd, 0)


class Link:
    """Messages to and from the server."""

    def __init__(self):
        self.socket = socket.socket(fileno=3)
        self.socket.setblocking(True)
        for fd in (3, 4, 5):
            os.set_inheritable(fd, False)
        self.reader = SharedReader(4)
        self.writer = SharedWriter(5)
        self.lock = threading.Lock()

    def is_waiting(self):
        """Whether a message has come."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def receive(self):
        """Returns the next message and its views; None when the server wants no more."""
        head = self.exactly(8)
        if head is None:
            return None
        length, behind = struct.unpack("<II", head)
        body = self.exactly(length + behind)
        if body is None:
            return None
        memory = memoryview(body)
        header = json.loads(bytes(memory[:length]))
        with self.lock:
            self.writer.free(header["freed"])
        at = length
        views = []
        for code, size, start in header["views"]:
            if start >= 0:
                views.append(View(code, self.reader.view(start, size), self.reader, start))
                continue
            views.append(View(code, memory[at : at + size], None, 0))
            at += -(-size // 8) * 8
        return header["message"], views

    def exactly(self, length):
        data = bytearray(length)
        rest = memoryview(data)
        while rest:
            count = self.socket.recv_into(rest)
            if count == 0:
                return None
            rest = rest[count:]
        return data

    def post(self, message, views=()):
        with self.lock:
            entries, pieces = [], [b""]
            for code, data in views:
                start = self.writer.write(data) if len(data) >= MIN_SHARED_BYTES else None
                entries.append((code, len(data), -1 if start is None else start))
                if start is None:
                    pieces += (data, bytes(-len(data) % 8))
            header = json.dumps({"message": message, "views": entries, "freed": self.reader.take_freed()}).encode()
            header += b" " * (-len(header) % 8)
            pieces[0] = struct.pack("<II", len(header), sum(map(len, pieces))) + header
            self.socket.sendall(b"".join(pieces))


class View:
    """Memory of a message; `reader` is where it lies, None for memory of its own."""

    __slots__ = ("code", "memory", "reader", "start")

    def __init__(self, code, memory, reader, start):
        self.code, self.memory, self.reader, self.start = code, memory, reader, start

    def array(self):
        array = numpy().frombuffer(self.memory, self.code)
        if self.reader is not None:
            self.reader.hold(array, self.start)
            self.reader = None
        return array

    def bytes(self):
        return bytes(self.memory)

    def drop(self):
        """Frees what no array was made of."""
        if self.reader is not None:
            self.reader.freed.append(self.start)
            self.reader = None


class File(io.BytesIO):
    """A file of a request: opened by PIL, pandas and numpy as any file is."""

    def __init__(self, data, name=None, mime_type="application/octet-stream"):
        super().__init__(data)
        self.name = name
        self.mime_type = mime_type


# Values: what pack in transfer.ts makes of them, and back.


def unpack(packed, views):
    """Returns the value that was sent."""
    # JSON has no undefined: it is left out.
    value = packed.get("value")
    for path, name, fields in packed.get("objects", ()):
        item = made(name, unpack(fields, views), views)
        if not path:
            value = item
            continue
        at = value
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = item
    return value


def made(name, fields, views):
    if name == "NDArray":
        return array_of(fields["data"], fields["shape"], fields["dtype"], views)
    if name in ("python.bytes", "python.bytes.buffer"):
        return views[fields["data"]].bytes()
    if name == "python.array":
        return views[fields["data"]].array()
    if name in ("python.frame", "python.series"):
        frame = arrow().ipc.open_file(views[fields["data"]].bytes()).read_pandas()
        return frame if name == "python.frame" else frame[frame.columns[0]]
    if name == "python.date":
        if fields["ms"] is None:
            return None
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(milliseconds=fields["ms"])
    if name == "python.bigint":
        return int(fields["text"])
    if name == "python.number":
        return float(fields["text"])
    if name == "RasterImage":
        height, width, channels = fields["height"], fields["width"], MODES.get(fields["mode"], 1)
        shape = (height, width) if channels == 1 else (height, width, channels)
        return views[fields["data"]].array().reshape(shape)
    if name == "BinaryFile":
        return File(views[fields["bytes"]].bytes(), fields.get("name"), fields["mimeType"])
    if name == "Map":
        return dict(fields["entries"])
    if name == "Set":
        return set(fields["values"])
    if name == "URL":
        return fields["href"]
    if name == "Error":
        return RuntimeError(fields["message"])
    return fields


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
    """Converts a value into what can be sent."""

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

    def items(self, values, path, objects):
        result = []
        for i, item in enumerate(values):
            path.append(i)
            result.append(self.plain(item, path, objects))
            path.pop()
        return result

    def members(self, values, path, objects):
        if not all(isinstance(name, str) for name in values):
            # Whole numbers are names in JSON, too.
            named = {str(int(name)) if hasattr(name, "__index__") else name: item for name, item in values.items()}
            if len(named) < len(values) or not all(isinstance(name, str) for name in named):
                fields = {"entries": [[name, item] for name, item in values.items()]}
                return self.leaf("Map", fields, path, objects)
            values = named
        result = {}
        for name, item in values.items():
            path.append(name)
            result[name] = self.plain(item, path, objects)
            path.pop()
        return result

    def leaf(self, name, fields, path, objects, data=None):
        """Adds an object with those fields, and with the memory `data` as its first view."""
        packed = self.pack(fields)
        if data is not None:
            packed["value"]["data"] = len(self.views)
            self.views.append(data)
        objects.append((list(path), name, packed))
        return None

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
        if isinstance(value, dict):
            return self.members(value, path, objects)
        if isinstance(value, (list, tuple)):
            return self.items(value, path, objects)
        for base in (str, int, float):
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
        name = "python.frame"
        if isinstance(value, pandas.Series):
            name, value = "python.series", value.to_frame(str(value.name if value.name is not None else ""))
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


# The model.


class Call:
    """The parameter `call` of methods that have one."""

    def __init__(self, host, message):
        self._host = host
        self._cancelled = False
        deadline = message.get("deadlineMs")
        #: When no caller wants the result any more, in seconds since the epoch; None for never.
        self.deadline = None if deadline is None else deadline / 1000
        #: Continues the trace of the callers; None where they have none.
        self.traceparent = message.get("traceparent")

    @property
    def cancelled(self):
        """Whether no caller wants the result any more."""
        self._host.look()
        return self._cancelled


class Stream:
    """What the reader of a stream has asked for."""

    def __init__(self):
        self.credits = 0
        self.cancelled = False


class Host:
    def __init__(self, link, concurrency):
        self.link = link
        self.runner = ""
        self.methods = {}
        self.calls = {}
        self.streams = {}
        self.loop = None
        #: Messages that came during a call. Calls of several threads are read by the main thread alone.
        self.later = deque()
        self.changed = threading.Condition()
        self.pool = None
        if concurrency > 1:
            from concurrent.futures import ThreadPoolExecutor

            self.pool = ThreadPoolExecutor(concurrency)

    def serve(self):
        """Handles messages until there are no more."""
        self.link.post({"ready": True})
        while True:
            received = self.later.popleft() if self.later else self.link.receive()
            if received is None:
                return
            message, views = received
            del received
            self.take(message, views)

    def take(self, message, views):
        content = message.get("message")
        if "part" in message:
            self.take_part(message["id"], message["part"])
        elif content["kind"] == "cancel":
            call = self.calls.get(content["id"])
            if call is not None:
                call._cancelled = True
            self.link.post({"id": message["id"], "reply": None})
        else:
            if message["open"]:
                self.streams[message["id"]] = Stream()
            if self.pool is None or content["kind"] == "load":
                self.handle(message["id"], content, views)
            else:
                self.pool.submit(self.handle_safely, message["id"], content, views)

    def take_part(self, number, part):
        stream = self.streams.get(number)
        if stream is None:
            return
        with self.changed:
            if part["kind"] == "credit":
                stream.credits += part["count"]
            else:
                stream.cancelled = True
            self.changed.notify_all()

    def look(self):
        """Takes what has come while the model computes in the thread that reads messages."""
        while self.pool is None and self.link.is_waiting():
            self.take_while_busy()

    def take_while_busy(self):
        received = self.link.receive()
        if received is None:
            sys.exit(0)
        if "part" in received[0] or received[0]["message"]["kind"] == "cancel":
            self.take(*received)
        else:
            self.later.append(received)

    def handle_safely(self, number, content, views):
        try:
            self.handle(number, content, views)
        except BaseException:
            # In the main thread, it would end the process, too.
            traceback.print_exc()
            os._exit(1)

    def handle(self, number, content, views):
        packer = Packer(lambda error: self.failure(error, content.get("method", "")))
        if content["kind"] == "load":
            reply = self.load(content, views)
        elif content["kind"] == "run":
            reply = self.run(content, views, packer)
        else:
            reply = self.stream(number, content, views)
        for view in views:
            view.drop()
        self.link.post({"id": number, "reply": reply}, packer.views)

    def failure(self, error, method):
        fields = {
            "method": method,
            "runner": self.runner,
            "type": type(error).__name__,
            "message": str(error),
            "traceback": trace_of(error),
        }
        status = getattr(error, "status", None)
        if type(status) is int and 400 <= status <= 599:
            fields["status"] = status
        return fields

    def load(self, content, views):
        try:
            self.runner = content["runner"]
            url = urllib.parse.urlsplit(content["module"])
            path = urllib.parse.unquote(url.path)
            model = loaded(path, url.fragment, unpack(content["init"], views))
            for name in content["methods"]:
                self.methods[name] = method_of(model, name, path)
            for name, packed in content["warmup"]:
                result = self.made(name, unpack(packed, views), Call(self, {}))
                if is_generator(result):
                    next(self.iterated(result), None)
            return {}
        except (Exception, SystemExit) as error:
            return {"failure": {"name": type(error).__name__, "message": place_of(error), "stack": trace_of(error)}}

    def made(self, name, value, call):
        """Makes a call of a method."""
        method, takes_input, takes_call = self.methods[name]
        args = (value,) if takes_input else ()
        result = method(*args, call=call) if takes_call else method(*args)
        return self.awaited(result) if inspect.isawaitable(result) else result

    def awaited(self, awaitable):
        """Waits for what a coroutine returns, on the event loop that all of them share."""
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            threading.Thread(target=self.loop.run_forever, daemon=True).start()

        async def wait():
            return await awaitable

        return asyncio.run_coroutine_threadsafe(wait(), self.loop).result()

    def run(self, content, views, packer):
        call = self.calls[content["id"]] = Call(self, content)
        start = time.perf_counter()
        results, failed = [], []
        for i, value_of in enumerate(inputs_of(content["inputs"], views)):
            try:
                result = self.made(content["method"], value_of(), call)
                if is_generator(result):
                    raise TypeError(f"{content['method']} yields: its options need stream: true")
            except Exception as error:
                result = error
                failed.append(i)
            results.append(result)
        del self.calls[content["id"]]
        ms = (time.perf_counter() - start) * 1000
        stack = stacked(results)
        if stack is not None:
            return {"results": {"stack": packer.pack(stack)}, "failed": failed, "ms": ms}
        packed = []
        for i, result in enumerate(results):
            count = len(packer.views)
            try:
                packed.append(packer.pack(result))
            except Exception as error:
                del packer.views[count:]
                packed.append(packer.pack(error))
                if i not in failed:
                    failed.append(i)
        return {"results": {"items": packed}, "failed": failed, "ms": ms}

    def stream(self, number, content, views):
        """Sends what a generator yields, as far as its reader has asked for it."""
        state = self.streams[number]
        call = self.calls[content["id"]] = Call(self, content)
        name = content["method"]
        iterator = None
        try:
            result = self.made(name, unpack(content["input"], views), call)
            del views
            iterator = self.iterated(result)
            while self.may_yield(state, call):
                packer = Packer(lambda error: self.failure(error, name))
                try:
                    value = next(iterator)
                except StopIteration:
                    break
                self.look()
                if state.cancelled:
                    break
                state.credits -= 1
                item = packer.pack(value)
                del value
                self.link.post({"id": number, "part": {"kind": "item", "item": item}}, packer.views)
            self.link.post({"id": number, "part": {"kind": "end"}})
        except Exception as error:
            packed = Packer(lambda error: self.failure(error, name)).pack(error)
            self.link.post({"id": number, "part": {"kind": "failure", "item": packed}})
        finally:
            del self.streams[number], self.calls[content["id"]]
            if iterator is not None and hasattr(iterator, "close"):
                iterator.close()
        return None

    def may_yield(self, state, call):
        """Waits until the reader wants a value; returns False when it wants no more."""
        self.look()
        while state.credits == 0 and not state.cancelled:
            if self.pool is None:
                self.take_while_busy()
            else:
                with self.changed:
                    self.changed.wait_for(lambda: state.credits > 0 or state.cancelled)
        call._cancelled = call._cancelled or state.cancelled
        return not state.cancelled

    def iterated(self, result):
        """Returns an iterator of what a method returned."""
        if hasattr(result, "__anext__"):
            return self.iterated_async(result)
        if hasattr(result, "__next__"):
            return result
        raise TypeError(f"expected a generator, received {kind_of(result)}")

    def iterated_async(self, generator):
        try:
            while True:
                try:
                    yield self.awaited(generator.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self.awaited(generator.aclose())


def inputs_of(inputs, views):
    """Returns functions that return the inputs of a message, or raise why there is none."""
    if "items" in inputs:
        return [lambda packed=packed: unpack(packed, views) for packed in inputs["items"]]
    stack = inputs["stack"]
    (_, _, fields), rows = stack["objects"][0], []

    def row(i):
        if not rows:
            rows.append(unpack(stack, views))
        return rows[0][i, ...]

    return [lambda i=i: row(i) for i in range(fields["value"]["shape"][0])]


def is_generator(value):
    return isinstance(value, (types.GeneratorType, types.AsyncGeneratorType))


def stacked(results):
    """Returns many small arrays of one kind as one; None for anything else."""
    np = sys.modules.get("numpy")
    if len(results) < 2 or np is None or type(results[0]) is not np.ndarray:
        return None
    first = results[0]
    if first.dtype.name not in CODES or first.nbytes >= MAX_STACKED_BYTES:
        return None
    for other in results:
        if type(other) is not np.ndarray or other.dtype != first.dtype or other.shape != first.shape:
            return None
    return np.stack(results)


def loaded(path, class_name, init):
    """Imports the file of a model, and makes an object of its class, if it has one."""
    sys.path[0] = os.path.dirname(path)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ValueError(f"expected a file of Python, as model.py, for the model, received {path}")
    module = importlib.util.module_from_spec(spec)
    # Pickles name it.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    maker = getattr(module, class_name or "Model", None)
    if maker is None and class_name:
        raise AttributeError(f"expected a class {class_name} in {path}")
    if maker is not None:
        return maker(**(init or {}))
    if init:
        raise ValueError(f"init needs a class Model in {path}")
    return module


def method_of(model, name, path):
    """Returns a method, and whether it takes an input and the parameter `call`."""
    method = getattr(model, name, None)
    if not callable(method):
        owner = "" if isinstance(model, types.ModuleType) else f" of the class {type(model).__name__}"
        raise AttributeError(f"expected a method {name}{owner} in {path}")
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return method, True, False
    named_only = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    takes_input = any(each.kind not in named_only and each.name != "call" for each in parameters)
    return method, takes_input, any(each.name == "call" for each in parameters)


def frames_of(error):
    """Returns the frames of a traceback that are not ours or of Python's importer."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__ and not frame.filename.startswith("<frozen")]
    return own or frames[-1:]


def trace_of(error):
    lines = traceback.format_list(frames_of(error))
    last = traceback.format_exception_only(type(error), error)
    return "".join(["Traceback (most recent call last):\n", *lines, *last])


def place_of(error):
    """Returns an error in one line, with the file and line of the model that it came from."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}"
    if isinstance(error, ModuleNotFoundError):
        text += "; the packages of the runner can name it"
    model = [frame for frame in frames_of(error) if frame.filename.startswith(sys.path[0] + os.sep)]
    if not model:
        return text
    return f"{model[-1].filename}:{model[-1].lineno}: {text}"


def end_with_server():
    """Has the system kill this process group when the server is gone: nothing is ever written to descriptor 0."""
    sys.stdin = open(os.devnull)
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([0], [], [], 0)[0]:
            os._exit(0)
        return

    def wait():
        os.read(0, 1)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def limit_memory(megabytes):
    if megabytes > 0:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (megabytes * 1024 * 1024,) * 2)
    try:
        # When the machine has no memory left, this process is ended, and not the server.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass


if __name__ == "__main__":
    end_with_server()
    limit_memory(int(sys.argv[2]))
    Host(Link(), int(sys.argv[1])).serve()
