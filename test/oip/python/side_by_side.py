"""
The same requests to a real Triton 2.51 and to `serving`, with the answers compared: byte for byte where the protocol
fixes them.

    python3 -m venv .venv && .venv/bin/pip install nvidia-pytriton==0.7.0 'setuptools<81' 'tritonclient[grpc]' && \
      npm run build
    .venv/bin/python test/oip/python/side_by_side.py

nvidia-pytriton brings Triton's server for CPUs. Prints a line for each request: `same`, or `ours` with both answers
where we answer otherwise by choice. Exits with 1 for any other difference.
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

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

from triton import start_triton

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

MODELS = {
    "double": ("TYPE_FP32", "[-1, 2]", "x * np.float32(2)"),
    "wide": ("TYPE_INT64", "[-1]", "x"),
    "words": ("TYPE_STRING", "[-1]", "np.array([each + b'!' for each in x.ravel()], object).reshape(x.shape)"),
    "halves": ("TYPE_BF16", "[-1]", None),
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start_serving():
    command = [
        "node",
        "dist/cli/main.js",
        "serve",
        str(HERE / "apis.service.ts"),
        "--port",
        "0",
        "--grpc-port",
        "0",
        "--host",
        "127.0.0.1",
        "--workers",
        "1",
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    http = None
    for line in process.stdout:
        http = http or re.search(r"http://\S*?:(\d+)", line)
        rpc = re.search(r"gRPC at \S*?:(\d+)", line)
        if rpc:
            return process, int(http[1]), int(rpc[1])
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
HALVES = struct.pack("<3H", 0x3F80, 0xC049, 0x7F80)
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
    infer(
        "JSON, NaN and infinity",
        "double",
        '{"inputs":[{"name":"input","shape":[1,2],"datatype":"FP32","data":[NaN,Infinity]}]}',
        expected="nan",
    ),
    infer("JSON, exact int64", "wide", [tensor((2,), "INT64", data=[9007199254740993, -1])]),
    infer("JSON, BYTES", "words", [tensor((2,), "BYTES", data=["ab", 'é"\n'])], expected="json"),
    infer("JSON, no elements", "double", [tensor((0, 2), data=[])]),
    infer("outputs: []", "double", [tensor(data=[1, 2])], outputs=[]),
    infer("binary both ways", "double", [tensor(parameters={"binary_data_size": 8})], FLOATS, parameters=binary),
    infer("binary in, JSON out", "double", [tensor(parameters={"binary_data_size": 8})], FLOATS),
    infer("JSON in, binary out", "double", [tensor(data=[1, 2])], parameters=binary),
    infer(
        "binary output by itself",
        "double",
        [tensor(data=[1, 2])],
        outputs=[{"name": "output", "parameters": {"binary_data": True}}],
    ),
    infer(
        "BYTES, binary both ways",
        "words",
        [tensor((2,), "BYTES", parameters={"binary_data_size": 10})],
        BYTES,
        parameters=binary,
    ),
    infer(
        "BF16, binary both ways",
        "halves",
        [tensor((3,), "BF16", parameters={"binary_data_size": 6})],
        HALVES,
        parameters=binary,
    ),
    ("metadata of BF16", "GET", "/v2/models/halves", b"", {}, "metadata"),
    infer(
        "the length of JSON alone",
        "double",
        json.dumps({"inputs": [tensor(data=[1, 2])]}),
        length=len(json.dumps({"inputs": [tensor(data=[1, 2])]})),
    ),
    infer(
        "classification",
        "double",
        [tensor(data=[1, 2])],
        outputs=[{"name": "output", "parameters": {"classification": 2}}],
        expected="classes",
    ),
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
    infer(
        "a size that is not the shape's",
        "double",
        [tensor(parameters={"binary_data_size": 4})],
        FLOATS[:4],
        expected="status",
    ),
    infer("a length beyond the body", "double", [tensor(data=[1, 2])], length=10**6, expected="status"),
    infer(
        "BYTES beyond the rest",
        "words",
        [tensor((1,), "BYTES", parameters={"binary_data_size": 5})],
        struct.pack("<I", 9) + b"a",
        expected="status",
    ),
    infer(
        "BYTES of more elements than the shape",
        "words",
        [tensor((1,), "BYTES", parameters={"binary_data_size": 10})],
        BYTES,
        expected="status",
    ),
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
    ("generate", "POST", "/v2/models/double/generate", b'{"input":[1,2.5]}', {}, "json"),
    ("generate of an unknown model", "POST", "/v2/models/none/generate", b'{"input":[1,2]}', {}, "status"),
    ("generate without an input", "POST", "/v2/models/double/generate", b'{"x":1}', {}, "status"),
    ("generate of another kind", "POST", "/v2/models/double/generate", b'{"input":["a","b"]}', {}, (500, 400)),
    ("generate_stream", "POST", "/v2/models/double/generate_stream", b'{"input":[1,2.5]}', {}, "events"),
]


pb = service_pb2


def message(model, shape=(1, 2), datatype="FP32", name="input", raw=None, outputs=(), version="", **contents):
    tensor = pb.ModelInferRequest.InferInputTensor(name=name, datatype=datatype, shape=shape)
    for key, values in contents.items():
        getattr(tensor.contents, key).extend(values)
    wanted = [pb.ModelInferRequest.InferRequestedOutputTensor(name=each) for each in outputs]
    return pb.ModelInferRequest(
        model_name=model, model_version=version, id="7", inputs=[tensor], outputs=wanted, raw_input_contents=raw or []
    )


# As above: `same` compares the message, `status` the code alone, a pair is Triton's code and ours.
RPC = [
    ("live", "ServerLive", pb.ServerLiveRequest(), "same"),
    ("ready", "ServerReady", pb.ServerReadyRequest(), "same"),
    ("model ready", "ModelReady", pb.ModelReadyRequest(name="double"), "same"),
    ("model ready of an unknown model", "ModelReady", pb.ModelReadyRequest(name="none"), "same"),
    ("metadata", "ModelMetadata", pb.ModelMetadataRequest(name="double"), "metadata"),
    ("metadata of an unknown model", "ModelMetadata", pb.ModelMetadataRequest(name="none"), "status"),
    ("raw", "ModelInfer", message("double", raw=[FLOATS]), "same"),
    ("typed", "ModelInfer", message("double", fp32_contents=[1, 2.5]), "same"),
    ("raw BYTES", "ModelInfer", message("words", (2,), "BYTES", raw=[BYTES]), "same"),
    ("typed BYTES", "ModelInfer", message("words", (2,), "BYTES", bytes_contents=[b"ab", b""]), "same"),
    ("typed INT64", "ModelInfer", message("wide", (2,), "INT64", int64_contents=[2**53 + 1, -1]), "same"),
    ("raw BF16", "ModelInfer", message("halves", (3,), "BF16", raw=[HALVES]), "same"),
    ("no elements", "ModelInfer", message("double", (0, 2), raw=[b""]), "same"),
    ("a version", "ModelInfer", message("double", raw=[FLOATS], version="1"), "same"),
    ("a requested output", "ModelInfer", message("double", raw=[FLOATS], outputs=["output"]), "same"),
    ("more raw entries than inputs", "ModelInfer", message("double", raw=[FLOATS, FLOATS]), "same"),
    ("an unknown model", "ModelInfer", message("none", raw=[FLOATS]), "status"),
    ("an unknown version", "ModelInfer", message("double", raw=[FLOATS], version="9"), "status"),
    ("a version that is no number", "ModelInfer", message("double", raw=[FLOATS], version="x"), "status"),
    ("an unknown input", "ModelInfer", message("double", name="x", raw=[FLOATS]), "status"),
    ("an unknown output", "ModelInfer", message("double", raw=[FLOATS], outputs=["x"]), "status"),
    ("another datatype", "ModelInfer", message("double", datatype="FP64", raw=[FLOATS * 2]), "status"),
    ("an unknown datatype", "ModelInfer", message("double", datatype="FP8", raw=[FLOATS]), "status"),
    ("another shape", "ModelInfer", message("double", (2, 1), raw=[FLOATS]), "status"),
    ("a negative shape", "ModelInfer", message("double", (-1, 2), raw=[FLOATS]), "status"),
    ("too few bytes", "ModelInfer", message("double", raw=[FLOATS[:4]]), "status"),
    ("too few typed elements", "ModelInfer", message("double", fp32_contents=[1]), "status"),
    ("contents of another type", "ModelInfer", message("double", int_contents=[1, 2]), "status"),
    ("raw and typed at once", "ModelInfer", message("double", raw=[FLOATS], fp32_contents=[1, 2]), "status"),
    ("no data", "ModelInfer", message("double"), "status"),
    (
        "BYTES beyond the rest",
        "ModelInfer",
        message("words", (1,), "BYTES", raw=[struct.pack("<I", 9) + b"a"]),
        "status",
    ),
    ("statistics of an unknown model", "ModelStatistics", pb.ModelStatisticsRequest(name="none"), (3, 5)),
    ("load of an unknown model", "RepositoryModelLoad", pb.RepositoryModelLoadRequest(model_name="none"), (13, 5)),
    ("a stream", "ModelStreamInfer", message("double", raw=[FLOATS]), "same"),
    ("an unknown model in a stream", "ModelStreamInfer", message("none", raw=[FLOATS]), "stream error"),
]


def call(port, method, request):
    """The code of a call and its answers."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        try:
            if method == "ModelStreamInfer":
                return 0, list(stub.ModelStreamInfer(iter([request]), timeout=20))
            return 0, [getattr(stub, method)(request, timeout=20)]
        except grpc.RpcError as error:
            return error.code().value[0], error.details()


def is_same_call(expected, theirs, ours):
    if isinstance(expected, tuple):
        return (theirs[0], ours[0]) == expected
    if theirs[0] != ours[0]:
        return False
    if expected == "metadata":
        for each in (*theirs[1], *ours[1]):
            each.platform = ""
    if expected == "stream error":
        return [bool(each.error_message) for each in theirs[1]] == [bool(each.error_message) for each in ours[1]]
    return expected == "status" or theirs == ours


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
    if expected == "events":
        data = lambda body: [json.loads(line[6:]) for line in body.decode().split("\n") if line]  # noqa: E731
        return data(theirs[2]) == data(ours[2])
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


def tell(what, expected, fits, theirs, ours):
    """Prints a case; returns whether it is wrong."""
    word = "WRONG" if not fits else "ours " if isinstance(expected, tuple) or expected == "classes" else "same "
    print(f"{word} {what}: {theirs[0]}" + (f" and {ours[0]}" if theirs[0] != ours[0] else ""))
    if not fits:
        print("   Triton ", theirs, "\n   serving", ours)
    return not fits


def main():
    wrong = 0
    folder = Path(tempfile.mkdtemp())
    their_port, their_rpc = free_port(), free_port()
    triton = start_triton(folder, MODELS, their_port, their_rpc)
    serving, our_port, our_rpc = start_serving()
    try:
        await_ready(their_port)
        await_ready(our_port)
        for what, method, path, body, headers, expected in CASES:
            theirs = ask(their_port, method, path, body, headers)
            ours = ask(our_port, method, path, body, headers)
            wrong += tell(f"REST: {what}", expected, is_same(expected, theirs, ours), theirs, ours)
        for what, method, request, expected in RPC:
            theirs, ours = call(their_rpc, method, request), call(our_rpc, method, request)
            wrong += tell(f"gRPC: {what}", expected, is_same_call(expected, theirs, ours), theirs, ours)
    finally:
        for process in (triton, serving):
            process.terminate()
            process.wait(30)
        shutil.rmtree(folder)
    print(f"{wrong} wrong of {len(CASES) + len(RPC)}")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
