"""The way to the server: frames over a socket (see frames.ts), arrays in shared files."""

import json
import mmap
import os
import select
import socket
import struct
import threading
import weakref
from collections import deque

MIN_SHARED_BYTES = 64 * 1024  # as in frames.ts
ALIGNMENT = 64
KEPT_BYTES = 64 * 1024 * 1024


def numpy():
    """Returns numpy, which only arrays need."""
    try:
        import numpy as module
    except ModuleNotFoundError:
        raise RuntimeError("arrays need numpy in the model's Python: add it to packages of the runner") from None
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
    def __init__(self):
        self.socket = socket.socket(fileno=3)
        self.socket.setblocking(True)
        for fd in (3, 4, 5):
            os.set_inheritable(fd, False)
        self.reader = SharedReader(4)
        self.writer = SharedWriter(5)
        self.lock = threading.Lock()

    def is_waiting(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def receive(self):
        """Returns the next message and its views; None when the server wants no more."""
        lengths = self.exactly(8)
        if lengths is None:
            return None
        length, behind = struct.unpack("<II", lengths)
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
