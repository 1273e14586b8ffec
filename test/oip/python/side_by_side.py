"""
The same requests to a real Triton 2.51 and to `serving`, with the answers compared: byte for byte where the protocol fixes them.

    python3 -m venv .venv && .venv/bin/pip install nvidia-pytriton==0.7.0 'setuptools<81' && npm run build
    .venv/bin/python test/oip/python/side_by_side.py

nvidia-pytriton brings Triton's server for CPUs. Prints a line for each request: `same`, or `ours` with both answers where we answer otherwise
by choice. Exits with 1 for any other difference.
"""
import http.client
import json
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from triton import start_triton

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

MODELS = {
    "double": ("TYPE_FP32", "[-1, 2]", "x * np.float32(2)"),
    "wide": ("TYPE_INT64", "[-1]", "x"),
    "words": ("TYPE_STRING", "[-1]", "np.array([each + b'!' for each in x.ravel()], object).reshape(x.shape)"),
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start_serving():
    command = ["node", "dist/cli/main.js", "serve", str(HERE / "apis.service.ts"), "--port", "0", "--host", "127.0.0.1", "--workers", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        found = re.search(r"http://\S*?:(\d+)", line)
        if found:
            return process, int(found[1])
    raise SystemExit("serving did not start")


def await_ready(port, seconds=25):
    for _ in range(seconds * 10):
        try:
            if ask(port, "GET", "/v2/health/ready")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"nothing is ready at port {port}")


def ask(port, method, path, body=b"", headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body or None, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.getheader("Inference-Header-Content-Length"), answer.read()
    finally:
        connection.close()


def tensor(shape=(1, 2), datatype="FP32", **rest):
    return {"name": "input", "shape": list(shape), "datatype": datatype, **rest}


def infer(what, model, inputs, tail=b"", expected="same", length=None, **rest):
    text = inputs if isinstance(inputs, str) else json.dumps({"inputs": inputs, **rest})
    headers = {}
    if tail or length is not None:
        headers["Inference-Header-Content-Length"] = str(len(text) if length is None else length)
    return what, "POST", f"/v2/models/{model}/infer", text.encode() + tail, headers, expected


FLOATS = struct.pack("<2f", 1, 2.5)
BYTES = struct.pack("<I", 2) + b"ab" + struct.pack("<I", 0)
binary = {"binary_data_output": True}
# `same`: status, header and every byte; a status pair: Triton's and ours, by choice.
CASES = [
    ("live", "GET", "/v2/health/live", b"", {}, "status"),
    ("ready", "GET", "/v2/health/ready", b"", {}, "status"),
    ("metadata", "GET", "/v2/models/double", b"", {}, "metadata"),
    ("metadata of a version", "GET", "/v2/models/double/versions/1", b"", {}, "metadata"),
    ("index", "POST", "/v2/repository/index", b"", {}, "index"),
    infer("JSON", "double", [tensor(data=[1, 2.5])]),
    infer("JSON, nested", "double", [tensor((2, 2), data=[[1, 2], [3, 4]])]),
    infer("JSON with id", "double", [tensor(data=[1, 2])], id="a-1"),
    infer("JSON, NaN and infinity", "double", '{"inputs":[{"name":"input","shape":[1,2],"datatype":"FP32","data":[NaN,Infinity]}]}', expected="nan"),
    infer("JSON, exact int64", "wide", [tensor((2,), "INT64", data=[9007199254740993, -1])]),
    infer("JSON, BYTES", "words", [tensor((2,), "BYTES", data=["ab", "é\"\n"])], expected="json"),
    infer("JSON, no elements", "double", [tensor((0, 2), data=[])]),
    infer("outputs: []", "double", [tensor(data=[1, 2])], outputs=[]),
    infer("binary both ways", "double", [tensor(parameters={"binary_data_size": 8})], FLOATS, parameters=binary),
    infer("binary in, JSON out", "double", [tensor(parameters={"binary_data_size": 8})], FLOATS),
    infer("JSON in, binary out", "double", [tensor(data=[1, 2])], parameters=binary),
    infer("binary output by itself", "double", [tensor(data=[1, 2])], outputs=[{"name": "output", "parameters": {"binary_data": True}}]),
    infer("BYTES, binary both ways", "words", [tensor((2,), "BYTES", parameters={"binary_data_size": 10})], BYTES, parameters=binary),
    infer("the length of JSON alone", "double", json.dumps({"inputs": [tensor(data=[1, 2])]}), length=len(json.dumps({"inputs": [tensor(data=[1, 2])]}))),
    infer("classification", "double", [tensor(data=[1, 2])], outputs=[{"name": "output", "parameters": {"classification": 2}}], expected="classes"),
    infer("an unknown model", "none", [tensor(data=[1, 2])], expected="status"),
    infer("an unknown input", "double", [{**tensor(data=[1, 2]), "name": "x"}], expected="status"),
    infer("an unknown output", "double", [tensor(data=[1, 2])], outputs=[{"name": "x"}], expected="status"),
    infer("another datatype", "double", [tensor(datatype="FP64", data=[1, 2])], expected="status"),
    infer("an unknown datatype", "double", [tensor(datatype="FP8", data=[1, 2])], expected="status"),
    infer("another shape", "double", [tensor((2, 1), data=[1, 2])], expected="status"),
    infer("no inputs", "double", [], expected="status"),
    infer("no data", "double", [tensor()], expected="status"),
    infer("a parameter that is an object", "double", [tensor(data=[1, 2])], parameters={"a": {}}, expected="status"),
    infer("too few bytes", "double", [tensor(parameters={"binary_data_size": 8})], FLOATS[:4], expected="status"),
    infer("bytes left over", "double", [tensor(parameters={"binary_data_size": 8})], FLOATS + b"x", expected="status"),
    infer("a size that is not the shape's", "double", [tensor(parameters={"binary_data_size": 4})], FLOATS[:4], expected="status"),
    infer("a length beyond the body", "double", [tensor(data=[1, 2])], length=10**6, expected="status"),
    infer("BYTES beyond the rest", "words", [tensor((1,), "BYTES", parameters={"binary_data_size": 5})], struct.pack("<I", 9) + b"a", expected="status"),
    infer("BYTES of more elements than the shape", "words", [tensor((1,), "BYTES", parameters={"binary_data_size": 10})], BYTES, expected="status"),
    infer("no JSON", "double", "{", expected=(500, 400)),
    infer("a list", "double", "[]", expected=(500, 400)),
    infer("an object without inputs", "double", "{}", expected=(500, 400)),
    infer("an id that is a number", "double", [tensor(data=[1, 2])], id=1, expected=(500, 400)),
    infer("data of another kind", "double", [tensor(data=["a", "b"])], expected=(500, 400)),
    infer("too little data", "double", [tensor(data=[1])], expected=(500, 400)),
    infer("a negative shape", "double", [tensor((-1, 2), data=[1, 2])], expected=(500, 400)),
    ("GET of infer", "GET", "/v2/models/double/infer", b"", {}, "status"),
    ("an unknown path", "GET", "/v2/models/double/nothing", b"", {}, "status"),
    ("an unknown encoding", "POST", "/v2/models/double/infer", b"x", {"Content-Encoding": "br"}, (501, 415)),
    ("load of an unknown model", "POST", "/v2/repository/models/none/load", b"", {}, (500, 404)),
    ("ready of an unknown model", "GET", "/v2/models/none/ready", b"", {}, (400, 404)),
]


def is_same(expected, theirs, ours):
    if isinstance(expected, tuple):
        return (theirs[0], ours[0]) == expected
    if theirs[0] != ours[0]:
        return False
    if expected == "same":
        return theirs == ours
    if expected == "json":
        # Triton writes characters beyond ASCII as escapes of its own; both mean the same text.
        return json.loads(theirs[2]) == json.loads(ours[2])
    if expected == "classes":
        # Our choice: the first dimension is rows for every model, Triton's for those with a max_batch_size.
        data = lambda body: [each["data"] for each in json.loads(body)["outputs"]]  # noqa: E731
        return data(theirs[2]) == data(ours[2])
    if expected == "nan":
        return re.sub(rb"\s", b"", theirs[2]) == ours[2]
    if expected == "metadata":
        drop = lambda body: {key: value for key, value in json.loads(body).items() if key != "platform"}  # noqa: E731
        return drop(theirs[2]) == drop(ours[2])
    if expected == "index":
        names = lambda body: {(each["name"], each["version"], each["state"]) for each in json.loads(body)}  # noqa: E731
        return names(theirs[2]) <= names(ours[2])
    return True


def main():
    wrong = 0
    folder = Path(tempfile.mkdtemp())
    their_port = free_port()
    triton = start_triton(folder, MODELS, their_port, free_port())
    serving, our_port = start_serving()
    try:
        await_ready(their_port)
        await_ready(our_port)
        for what, method, path, body, headers, expected in CASES:
            theirs = ask(their_port, method, path, body, headers)
            ours = ask(our_port, method, path, body, headers)
            fits = is_same(expected, theirs, ours)
            wrong += not fits
            word = "WRONG" if not fits else "ours " if isinstance(expected, tuple) or expected == "classes" else "same "
            print(f"{word} {what}: {theirs[0]}" + (f" and {ours[0]}" if theirs[0] != ours[0] else ""))
            if not fits:
                print("   Triton ", theirs, "\n   serving", ours)
    finally:
        for process in (triton, serving):
            process.terminate()
            process.wait(30)
        shutil.rmtree(folder)
    print(f"{wrong} wrong of {len(CASES)}")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
