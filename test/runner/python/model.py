"""What the tests of models in Python call."""

import asyncio
import os
import subprocess
import sys
import time


class Model:
    def __init__(self, factor=1):
        self.factor = factor
        self.kept = []
        self.seen = []

    def echo(self, value):
        return value

    def place(self):
        import os
        import time

        time.sleep(0.3)
        return f"{os.environ['RUNNER_INDEX']} {os.environ.get('CUDA_VISIBLE_DEVICES')}"

    def more(self, value, limit):
        return [value, limit]

    def fewer(self, value, limit=3, *, call, **others):
        return [value, limit]

    def kind(self, value):
        if hasattr(value, "dtype"):
            return f"{type(value).__name__} {value.dtype} {value.shape} {value.tolist()}"
        return f"{type(value).__name__} {value!r}"

    def arrays(self, value):
        import numpy as np

        return {
            "big endian": np.array([1, 2], ">f8"),
            "every second": np.arange(6)[::2],
            "columns first": np.asfortranarray([[1, 2], [3, 4]]),
            "text": np.array(["a", "Zürich"]),
            "scalar": np.array(5.0),
            "numbers": [np.float32(0.5), np.int64(2**60), np.bool_(True), np.longdouble(2)],
            "empty": np.zeros((0, 3), "u2"),
        }

    def table(self, value):
        import pandas as pd

        return pd.DataFrame({"a column": [1.0, 2.0], 1: ["x", "y"]}, index=[7, 8])

    def others(self, value):
        import datetime

        noon = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)
        return [b"\x00\xff", noon, {1: "whole"}, {1.5: "half"}, {"a"}, (1, 2), float("inf"), 2**70, "\ud800"]

    def predict(self, x):
        self.seen.append(len(x))
        return x * x.dtype.type(self.factor)

    def sizes(self, x):
        """Raises when row 0 is negative, whatever else is in the batch."""
        if (x < 0).any():
            raise ValueError(f"negative: {x.min()}")
        return x + len(x)

    def keep(self, x):
        self.kept.append(x)
        return len(self.kept)

    def sums(self, _):
        return [float(x.sum()) for x in self.kept]

    def change(self, x):
        x += 1
        return x

    def fail(self, text):
        raise KeyError(text)

    def refuse(self, status):
        error = ValueError("the model wants a positive number")
        error.status = status
        raise error

    def strange(self, value):
        return {"deep": [object()]}

    def pid(self):
        return os.getpid()

    def die(self, code):
        os._exit(code)

    def leave(self, value):
        sys.exit(4)

    def loop(self, value):
        while True:
            pass

    def wait(self, seconds):
        time.sleep(seconds)
        return os.getpid()

    def talk(self, text):
        print(text)
        print("to standard error", file=sys.stderr)
        os.write(1, b"raw \xff bytes\n")
        return input is not None and sys.stdin.read()

    def child(self, value):
        """Starts a process that outlives its parent unless somebody ends it."""
        return subprocess.Popen(["sleep", "600"]).pid

    def fill(self, value):
        return len(bytearray(value))

    def late(self, value, call):
        while not call.cancelled:
            time.sleep(0.001)
        self.seen.append("cancelled")
        return None

    def context(self, value, call):
        return {"deadline": call.deadline, "traceparent": call.traceparent, "cancelled": call.cancelled}

    def history(self):
        return self.seen

    async def slowly(self, value):
        await asyncio.sleep(0.001)
        return value

    def count(self, end):
        try:
            for i in range(end):
                if i == 1000:
                    raise RuntimeError("a thousand")
                yield i
        finally:
            self.seen.append("closed")

    async def count_async(self, end):
        for i in range(end):
            await asyncio.sleep(0)
            yield i

    def totals(self, arrays):
        total = 0.0
        try:
            for array in arrays:
                total += float(array.sum())
                yield total
            yield -total
        finally:
            self.seen.append("closed")

    def same(self, arrays):
        yield from arrays

    def upper(self, texts):
        for text in texts:
            yield text.upper()

    async def upper_async(self, texts):
        async for text in texts:
            yield text.upper()

    async def first_async(self, texts):
        """Ends while it still waits for an input."""
        reading = asyncio.ensure_future(texts.__anext__())
        yield await reading
        self.pending = asyncio.ensure_future(texts.__anext__())
        await asyncio.sleep(0.05)
        yield "enough"

    def chunks(self, count):
        import numpy as np

        for i in range(count):
            yield np.full(100_000, i, "f4")

    def meet(self, value):
        """Two calls at a time end one another."""
        self.seen.append(value)
        while len(self.seen) < 2:
            time.sleep(0.001)
        return value
