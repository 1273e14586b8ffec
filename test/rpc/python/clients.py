"""
Real gRPC clients against a running server: stubs made from our own .proto and from the published one of the reference
system.

    python3 -m venv .venv && \
      .venv/bin/pip install grpcio grpcio-tools grpcio-reflection grpcio-health-checking numpy flatbuffers
    npm run build && .venv/bin/python test/rpc/python/clients.py

Starts `serving serve` with two workers itself. Prints a line for each check and exits with 1 when one fails.
"""

import importlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import grpc
import numpy as np
from google.protobuf import json_format, struct_pb2, wrappers_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
failures = 0


def check(what, ok, seen=None):
    global failures
    print(("ok    " if ok else "WRONG ") + what + ("" if ok else f": {seen!r}"))
    failures += not ok


def compile_stubs(out):
    """Two separate packages, each from its own file."""
    well_known = os.path.join(os.path.dirname(importlib.import_module("grpc_tools").__file__), "_proto")
    for path, include in ((ROOT / "proto/serving/v1/serving.proto", ROOT / "proto"), (HERE / "reference.proto", HERE)):
        code = protoc.main(
            ["", f"-I{include}", f"-I{well_known}", f"--python_out={out}", f"--grpc_python_out={out}", str(path)]
        )
        assert code == 0, path
    sys.path.insert(0, out)
    ours = importlib.import_module("serving.v1.serving_pb2"), importlib.import_module("serving.v1.serving_pb2_grpc")
    theirs = importlib.import_module("reference_pb2"), importlib.import_module("reference_pb2_grpc")
    return ours, theirs


def start_server():
    command = ["node", "dist/cli/main.js", "serve", str(HERE / "echo.service.ts")]
    process = subprocess.Popen(
        command + ["--port", "0", "--grpc-port", "0", "--host", "127.0.0.1", "--workers", "2"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for line in process.stdout:
        found = re.search(r"gRPC at \S*?:(\d+)", line)
        if found:
            return process, int(found[1])
    raise SystemExit("the server did not start")


def every_descriptor(name, pb, stub):
    def call(api, **content):
        return stub.Call(pb.Request(api_name=api, **content))

    def refused(api, code, what, **content):
        try:
            answer = call(api, **content)
            check(f"{name}: {what} is refused", False, answer)
        except grpc.RpcError as error:
            check(f"{name}: {what} is {code.name}", error.code() == code, (error.code(), error.details()))

    dtypes = {
        "float": np.float32([0.5, -1, np.inf]),
        "double": np.float64([0.1, 1e300]),
        "bool": np.array([True, False]),
        "int32": np.int32([1, -2]),
        "int64": np.int64([2**62, -1]),
        "uint32": np.uint32([2**32 - 1]),
        "uint64": np.uint64([2**64 - 1]),
    }
    for kind, values in dtypes.items():
        dtype = getattr(pb.NDArray, f"DTYPE_{kind.upper()}")
        sent = pb.NDArray(dtype=dtype, shape=[1, len(values)], **{f"{kind}_values": values.tolist()})
        got = call("ndarray", ndarray=sent)
        check(f"{name}: NDArray of {kind}", got.ndarray == sent, got)
    sent = pb.NDArray(dtype=pb.NDArray.DTYPE_STRING, shape=[2], string_values=["é", ""])
    check(f"{name}: NDArray of string", call("ndarray", ndarray=sent).ndarray == sent)
    got = call("ndarray", ndarray=pb.NDArray(shape=[-1, 2], int32_values=[1, 2, 3, 4])).ndarray
    check(f"{name}: shape with -1", list(got.shape) == [2, 2], got)
    got = call("floats", serialized_bytes=np.float32([1, 2]).tobytes()).ndarray
    check(f"{name}: raw serialized bytes", list(got.float_values) == [1, 2], got)

    columns = [
        pb.Series(int64_values=[1, 2]),
        pb.Series(double_values=[0.5, 1]),
        pb.Series(string_values=["a", "é"]),
        pb.Series(bool_values=[True, False]),
        pb.Series(float_values=[1.5, 2]),
        pb.Series(int32_values=[3, 4]),
    ]
    frame = pb.DataFrame(column_names=list("abcdef"), columns=columns)
    check(f"{name}: DataFrame", call("frame", dataframe=frame).dataframe == frame)
    series = pb.Series(string_values=["x", "y"])
    check(f"{name}: Series", call("series", series=series).series == series)

    value = {"a": [1, None, "é", True], "b": {"c": -0.5}}
    got = call("json", json=json_format.ParseDict(value, struct_pb2.Value())).json
    check(f"{name}: JSON", json_format.MessageToDict(got) == value, got)
    got = call("json", serialized_bytes=b'{"a":1}').json
    check(f"{name}: JSON as bytes", json_format.MessageToDict(got) == {"a": 1}, got)
    check(f"{name}: Text", call("text", text=wrappers_pb2.StringValue(value="héllo")).text.value == "héllo")
    check(f"{name}: empty Text", call("text", text=wrappers_pb2.StringValue(value="")).HasField("text"))
    file = pb.File(kind="audio/wav", content=b"\x00\x01")
    check(f"{name}: File", call("file", file=file).file == file)
    bmp = (ROOT / "test/fixtures/images/rgb.bmp").read_bytes()
    got = call("image", file=pb.File(kind="image/bmp", content=bmp)).file
    check(f"{name}: Image", got.kind == "image/png" and got.content[:4] == b"\x89PNG", got.kind)
    parts = {
        "a": pb.Part(text=wrappers_pb2.StringValue(value="t")),
        "j": pb.Part(json=struct_pb2.Value(bool_value=True)),
        "n": pb.Part(ndarray=pb.NDArray(dtype=pb.NDArray.DTYPE_FLOAT, shape=[1], float_values=[2])),
    }
    for api in ("form", "form_async"):
        got = call(api, multipart=pb.Multipart(fields=parts)).multipart
        check(f"{name}: Multipart through {api}", got == pb.Multipart(fields=parts), got)

    invalid = grpc.StatusCode.INVALID_ARGUMENT
    refused("ndarray", invalid, "no content")
    refused("ndarray", invalid, "another content", text=wrappers_pb2.StringValue(value="x"))
    refused("ndarray", invalid, "a wrong count", ndarray=pb.NDArray(shape=[3], int32_values=[1, 2]))
    refused("form", invalid, "a missing part", multipart=pb.Multipart(fields={}))
    refused("nobody", grpc.StatusCode.NOT_FOUND, "an unknown API", text=wrappers_pb2.StringValue(value="x"))

    told = stub.ServiceMetadata(pb.ServiceMetadataRequest())
    api = next(api for api in told.apis if api.name == "pairs")
    args = json_format.MessageToDict(api.input.attributes)["args"]
    check(
        f"{name}: ServiceMetadata", told.name == "echo" and args["dtype"] == "int32" and args["shape"] == [-1, 2], args
    )


def our_own(pb, stub):
    words = [
        answer.text.value
        for answer in stub.CallStream(pb.Request(api_name="words", text=wrappers_pb2.StringValue(value="a b c")))
    ]
    check("ours: CallStream", words == ["a", "b", "c"], words)
    request = pb.Request(api_name="ndarray", ndarray=pb.NDArray(float_values=[1, 2]))
    table = stub.Call(request, metadata=(("accept", "application/x-flatbuffers"),)).serialized_bytes
    try:
        from flatbuffers import Builder, table as fb, encode, number_types, packer

        root = encode.Get(packer.uoffset, table, 0)
        view = fb.Table(bytearray(table), root)
        data = view.Vector(view.Offset(8))
        values = np.frombuffer(table, np.float32, 2, data)
        check(
            "ours: a FlatBuffers table that the flatbuffers package reads",
            values.tolist() == [1, 2] and data % 64 == 0,
            (values, data),
        )
    except ImportError:
        print("skip  flatbuffers is not installed")
    for dtype in ("float32", ">i8", "bool", "float16", "<U3"):
        with tempfile.TemporaryFile() as npy:
            array = np.array([[1, 0], [3, 4]]).astype(dtype)
            np.save(npy, np.asfortranarray(array))
            npy.seek(0)
            answer = stub.Call(
                pb.Request(api_name="ndarray", serialized_bytes=npy.read()), metadata=(("accept", "application/x-npy"),)
            )
            npy.seek(0)
            npy.truncate()
            npy.write(answer.serialized_bytes)
            npy.seek(0)
            back = np.load(npy)
            check(f"ours: .npy of {dtype}", np.array_equal(back, array), back)


def around(channel, port):
    names = ProtoReflectionDescriptorDatabase(channel).get_services()
    for wanted in ("serving.v1.ServingService", "bentoml.grpc.v1.BentoService", "grpc.health.v1.Health"):
        check(f"reflection lists {wanted}", wanted in names or "Health" in wanted, names)
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    for service in ("serving.v1.ServingService", "bentoml.grpc.v1.BentoService"):
        found = pool.FindServiceByName(service)
        check(
            f"reflection describes {service}",
            "Call" in found.methods_by_name
            and found.methods_by_name["Call"].input_type.fields_by_name["json"].message_type.full_name
            == "google.protobuf.Value",
        )
    health = health_pb2_grpc.HealthStub(channel)
    answer = health.Check(health_pb2.HealthCheckRequest(service="bentoml.grpc.v1.BentoService"))
    check("health is SERVING", answer.status == health_pb2.HealthCheckResponse.SERVING, answer)


def main():
    with tempfile.TemporaryDirectory() as out:
        (ours, ours_grpc), (theirs, theirs_grpc) = compile_stubs(out)
        process, port = start_server()
        try:
            # One connection each: a worker is picked by connection, so that several find both.
            for turn in range(4):
                options = (("grpc.use_local_subchannel_pool", 1),)
                with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
                    if turn == 0:
                        every_descriptor("ours", ours, ours_grpc.ServingServiceStub(channel))
                        our_own(ours, ours_grpc.ServingServiceStub(channel))
                        around(channel, port)
                    elif turn == 1:
                        every_descriptor("reference", theirs, theirs_grpc.BentoServiceStub(channel))
                    stub = ours_grpc.ServingServiceStub(channel)
                    request = ours.Request(api_name="worker", json=struct_pb2.Value(null_value=0))
                    workers.add(stub.Call(request).json.number_value)
            check("several workers answer on one gRPC port", len(workers) == 2, workers)
        finally:
            process.terminate()
            process.wait(10)
            check("the server stops in order", process.returncode == 0, process.returncode)
    sys.exit(1 if failures else 0)


workers = set()
main()
