"""Runs a model for a Runner of serving: python-worker.ts starts it and sends calls over a socket.

File descriptors: 0 is open as long as the server lives, 1 and 2 are its log, 3 is the socket, 4 and 5 are the shared
files, of arguments and of results. Needs the standard library alone, and numpy where a call has arrays.
"""

import fcntl
import inspect
import os
import select
import signal
import sys
import threading
import time
import traceback
import types
import urllib.parse
from collections import deque
from functools import cache, cached_property

# Nothing is written into the package, whose files builds compare.
WRITES_NONE, sys.dont_write_bytecode = sys.dont_write_bytecode, True
from serving_link import Link  # noqa: E402
from serving_model import loaded, method_of, place_of, trace_of  # noqa: E402
from serving_values import Packer, kind_of, stacked, unpack  # noqa: E402

sys.dont_write_bytecode = WRITES_NONE


class Call:  # the parameter `call` of methods that have one
    def __init__(self, host, message):
        self._host = host
        self._cancelled = False
        self._credits = 0  # how many values of a stream its reader has asked for
        deadline = message.get("deadlineMs")
        #: When no caller wants the result any more, in seconds since the epoch; None for never.
        self.deadline = None if deadline is None else deadline / 1000
        self.traceparent = message.get("traceparent")

    @property
    def cancelled(self):
        self._host.look()
        return self._cancelled


class Inputs:  # of a stream: what its caller sends one by one, for loops of both kinds
    END = object()

    def __init__(self, host, number, call):
        self._host, self._number, self._call = host, number, call
        self._received = deque()
        self._is_over = False

    def receive(self, part, views):
        self._received.append((part, views))

    def rest(self):
        return [self._received.popleft() for _ in range(len(self._received))]

    def __iter__(self):
        return self

    def __next__(self):
        if self._is_over:
            raise StopIteration
        self._host.link.post({"kind": "part", "id": self._number, "part": {"kind": "next"}})
        self._host.wait_until(lambda: self._received or self._call._cancelled)
        if self._call._cancelled:
            raise RuntimeError("no caller wants the result any more")
        part, views = self._received.popleft()
        if part["kind"] == "input":
            value = unpack(part["item"], views)
            for view in views:
                view.drop()
            return value
        self._is_over = True
        if part["kind"] == "last":
            raise StopIteration
        raise RuntimeError(part["message"])

    def __aiter__(self):
        return self

    async def __anext__(self):
        import asyncio

        value = await asyncio.wrap_future(self._host.waiting.submit(next, self, Inputs.END))
        if value is Inputs.END:
            raise StopAsyncIteration
        return value


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
        self.concurrency = concurrency
        if concurrency > 1:
            from concurrent.futures import ThreadPoolExecutor

            self.pool = ThreadPoolExecutor(concurrency)
        #: Whether a thread reads messages, which no other may do then.
        self.is_read = self.pool is not None

    @cached_property
    def waiting(self):
        """Threads that wait for the inputs of asynchronous generators."""
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self.concurrency)

    def serve(self):
        while True:
            if self.pool is None:
                self.wait_until(lambda: self.later)
            received = self.link.receive() if self.pool is not None else self.later.popleft()
            if received is None:
                return
            message, views = received
            del received
            self.take(message, views)

    def wait_until(self, is_done):
        """Waits, and takes what comes meanwhile unless another thread does."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: is_done() or not self.is_read)
                if is_done():
                    return
                self.is_read = True
            self.read_one()

    def read_one(self):
        try:
            self.take_while_busy()
        finally:
            with self.changed:
                self.is_read = False
                self.changed.notify_all()

    def take(self, message, views):
        number, content = message["id"], message.get("message")
        if message["kind"] == "part":
            self.take_part(self.streams.get(number), message["part"], views)
        elif content["kind"] == "cancel":
            if content["id"] in self.calls:
                self.calls[content["id"]]._cancelled = True
            self.link.post({"kind": "reply", "id": number, "reply": None})
        else:
            call = Call(self, content)
            if message["open"]:
                call._inputs = Inputs(self, number, call)
                self.streams[number] = call
            if self.pool is None or content["kind"] == "load":
                self.handle(number, content, views, call)
            else:
                self.pool.submit(self.handle_safely, number, content, views, call)

    def take_part(self, call, part, views):
        if call is None:
            for view in views:
                view.drop()
            return
        with self.changed:
            if part["kind"] == "credit":
                call._credits += part["count"]
            elif part["kind"] == "cancel":
                call._cancelled = True
            else:
                call._inputs.receive(part, views)
            self.changed.notify_all()

    def look(self):
        """Takes what has come while the model computes, unless another thread does."""
        while True:
            with self.changed:
                if self.is_read or not self.link.is_waiting():
                    return
                self.is_read = True
            self.read_one()

    def take_while_busy(self):
        received = self.link.receive()
        if received is None:
            sys.exit(0)
        if received[0]["kind"] == "part" or received[0]["message"]["kind"] == "cancel":
            self.take(*received)
        else:
            self.later.append(received)

    def handle_safely(self, *args):
        try:
            self.handle(*args)
        except BaseException:
            # In the main thread, it would end the process, too.
            traceback.print_exc()
            os._exit(1)

    def handle(self, number, content, views, call):
        packer = Packer(lambda error: self.failure(error, content.get("method", "")))
        if content["kind"] == "load":
            reply = self.load(content, views, call)
        else:
            self.calls[content["id"]] = call
            if content["kind"] == "run":
                reply = self.run(content, views, call, packer)
            else:
                reply = self.stream(number, content, views, call)
            del self.calls[content["id"]]
        for view in views:
            view.drop()
        self.link.post({"kind": "reply", "id": number, "reply": reply}, packer.views)

    def failure(self, error, method):
        fields = {"method": method, "runner": self.runner, "type": type(error).__name__, "message": str(error)}
        status = getattr(error, "status", None)
        if type(status) is int and 400 <= status <= 599:
            fields["status"] = status
        return {**fields, "traceback": trace_of(error)}

    def load(self, content, views, call):
        try:
            self.runner = content["runner"]
            url = urllib.parse.urlsplit(content["module"])
            path = urllib.parse.unquote(url.path)
            model = loaded(path, url.fragment, unpack(content["init"], views))
            for name in content["methods"]:
                self.methods[name] = method_of(model, name, path)
            for name, packed in content["warmup"]:
                result = self.made(name, unpack(packed, views), call)
                if is_generator(result):
                    next(self.iterated(result), None)
            return {}
        except (Exception, SystemExit) as error:
            return {"failure": {"name": type(error).__name__, "message": place_of(error), "stack": trace_of(error)}}

    def made(self, name, value, call):
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

    def run(self, content, views, call, packer):
        start = time.perf_counter()
        results, failed = [], []
        for i, value_of in enumerate(inputs_of(content["inputs"], views)):
            try:
                results.append(self.made(content["method"], value_of(), call))
                if is_generator(results[i]):
                    raise TypeError(f"{content['method']} yields: its options need stream: true")
            except Exception as error:
                results[i:] = [error]
                failed.append(i)
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

    def stream(self, number, content, views, call):
        iterator = None

        def post(kind, value):
            packer = Packer(lambda error: self.failure(error, content["method"]))
            part = {"kind": kind, "item": packer.pack(value)}
            self.link.post({"kind": "part", "id": number, "part": part}, packer.views)

        try:
            # Without an input of its own, it gets those that its caller sends one by one.
            value = unpack(content["input"], views) if "input" in content else call._inputs
            result = self.made(content["method"], value, call)
            del views, value
            iterator = self.iterated(result)
            while self.may_yield(call):
                try:
                    value = next(iterator)
                except StopIteration:
                    break
                if call.cancelled:
                    break
                call._credits -= 1
                post("item", value)
                del value
            post("end", None)
        except Exception as error:
            post("failure", error)
        finally:
            del self.streams[number]
            self.end_inputs(call)
            if iterator is not None and hasattr(iterator, "close"):
                iterator.close()

    def may_yield(self, call):
        """Waits until the reader wants a value; returns False when it wants no more."""
        self.look()
        self.wait_until(lambda: call._credits > 0 or call._cancelled)
        return not call._cancelled

    def end_inputs(self, call):
        """Wakes a thread that still waits for one."""
        with self.changed:
            call._cancelled = True
            self.changed.notify_all()
        for _, views in call._inputs.rest():
            for view in views:
                view.drop()

    def iterated(self, result):
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
    rows = cache(lambda: unpack(stack, views))
    return [lambda i=i: rows()[i, ...] for i in range(stack["objects"][0][2]["value"]["shape"][0])]


def is_generator(value):
    return isinstance(value, (types.GeneratorType, types.AsyncGeneratorType))


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
