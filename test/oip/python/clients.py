"""
Unmodified clients of the Open Inference Protocol against a running server: tritonclient over HTTP and gRPC, sync and
asyncio, kserve's clients, `mlserver infer` and perf_analyzer. Results are compared with numpy and onnxruntime.

    python3 -m venv .venv && .venv/bin/pip install 'tritonclient[all]' kserve onnxruntime ml_dtypes
    npm run build && \
      .venv/bin/python test/oip/python/clients.py [--record] [--mlserver PROGRAM] [--perf-analyzer PROGRAM]

Prints a line for each check and exits with 1 when one fails. With --record, what the clients send over HTTP and gRPC,
with the answers' meaning, becomes test/fixtures/oip/clients.json and clients-grpc.json, which the tests of the same
name send again. mlserver needs an environment of its own.
"""

import argparse
import asyncio
import base64
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import ml_dtypes
import numpy as np
import onnxruntime
from tritonclient.utils import InferenceServerException

# Both bring messages of the protocol under the same names, so kserve's clients run in a process of their own.
IS_KSERVE = "--kserve" in sys.argv
if IS_KSERVE:
    from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig
else:
    import tritonclient.grpc as triton_grpc
    import tritonclient.grpc.aio as triton_grpc_aio
    import tritonclient.http as triton_http
    import tritonclient.http.aio as triton_http_aio

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
failures = 0
recorded = []


def check(client, call, ok, seen=None):
    global failures
    print(f"{'ok   ' if ok else 'WRONG'} {client}: {call}" + ("" if ok else f": {seen!r}"), flush=True)
    failures += not ok


def attempt(client, call, work):
    """Checks what `work` returns: a truth, or a pair of it and what was seen."""
    try:
        result = work()
    except Exception as error:  # noqa: BLE001: each check stands for itself
        result = False, error
    ok, seen = result if isinstance(result, tuple) else (result, None)
    check(client, call, bool(ok), seen)


async def attempt_async(client, call, work):
    try:
        result = await work()
    except Exception as error:  # noqa: BLE001
        result = False, error
    ok, seen = result if isinstance(result, tuple) else (result, None)
    check(client, call, bool(ok), seen)


def refused(work, words, status=None):
    """Whether a call raises the clients' error with these words in its text."""
    try:
        return False, work()
    except InferenceServerException as error:
        return words in str(error) and (status is None or str(error.status()) == status), error


def start_server():
    command = ["node", "dist/cli/main.js", "serve", str(HERE / "models.service.ts")]
    process = subprocess.Popen(
        command + ["--port", "0", "--grpc-port", "0", "--host", "127.0.0.1", "--workers", "1"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    http = None
    for line in process.stdout:
        http = http or re.search(r"http://\S*?:(\d+)", line)
        grpc = re.search(r"gRPC at \S*?:(\d+)", line)
        if grpc:
            return process, int(http[1]), int(grpc[1])
    raise SystemExit("the server did not start")


class Recorder:
    """A proxy in front of the HTTP port that keeps what clients send, connection by connection."""

    def __init__(self, port):
        self.target = port
        self.sent = bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.pump, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, False), daemon=True).start()

    def pump(self, source, sink, keep):
        try:
            while piece := source.recv(65536):
                if keep:
                    self.sent += piece
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            sink.close()

    def take(self):
        sent, self.sent = bytes(self.sent), bytearray()
        return sent


class GrpcRecorder(grpc.GenericRpcHandler):
    """A proxy in front of the gRPC port that keeps the messages and metadata of each call, and the answers."""

    def __init__(self, target):
        unlimited = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self.channel = grpc.insecure_channel(f"127.0.0.1:{target}", options=unlimited)
        self.client = ""
        self.calls = {}
        self.server = grpc.server(ThreadPoolExecutor(32), handlers=[self], options=unlimited)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def service(self, details):
        if details.method.endswith("/ModelStreamInfer"):
            return grpc.stream_stream_rpc_method_handler(
                lambda messages, context: self.stream(details, messages, context)
            )
        return grpc.unary_unary_rpc_method_handler(lambda message, context: self.unary(details, message, context))

    def keep(self, details, messages, answers, status):
        metadata = {key: value for key, value in details.invocation_metadata if isinstance(value, str)}
        text = lambda pieces: [base64.b64encode(piece).decode() for piece in pieces]  # noqa: E731
        kept = {
            "client": self.client,
            "method": details.method,
            "metadata": metadata,
            "messages": text(messages),
            "answers": text(answers),
            "status": status,
        }
        # Once each, and only what is short.
        if sum(map(len, messages)) < 4096:
            self.calls.setdefault(json.dumps([self.client, details.method, kept["messages"]]), kept)

    def forwarded(self, details):
        return [(key, value) for key, value in details.invocation_metadata if key != "user-agent"]

    def unary(self, details, message, context):
        try:
            answer = self.channel.unary_unary(details.method)(message, metadata=self.forwarded(details), timeout=60)
        except grpc.RpcError as error:
            self.keep(details, [message], [], error.code().value[0])
            context.abort(error.code(), error.details())
        self.keep(details, [message], [answer], 0)
        return answer

    def stream(self, details, messages, context):
        sent, got = [], []

        def tap():
            for message in messages:
                sent.append(message)
                yield message

        for answer in self.channel.stream_stream(details.method)(tap(), metadata=self.forwarded(details)):
            got.append(answer)
            yield answer
        self.keep(details, sent, got, 0)


def record(client, call, recorder, result):
    """Keeps the request that was just sent, with the outputs that its client read."""
    outputs = {name: array.astype(object).ravel().tolist() for name, array in result.items()}
    plain = json.loads(
        json.dumps(outputs, default=lambda value: value.decode() if isinstance(value, bytes) else value.item())
    )
    recorded.append(
        {"client": client, "call": call, "http": base64.b64encode(recorder.take()).decode(), "outputs": plain}
    )


def triton_inputs(module, arrays, **options):
    inputs = []
    for name, datatype, array in arrays:
        tensor = module.InferInput(name, array.shape, datatype)
        tensor.set_data_from_numpy(array, **options)
        inputs.append(tensor)
    return inputs


ROWS = np.array([[1, 2], [3, -4.5]], np.float32)
WORDS = np.array([b"a", "é".encode(), b""], object)
SUM = [("a", "INT64", np.array([2**53 + 1, 1], np.int64)), ("b", "BYTES", np.array([b"hi"], object))]
TYPES = {
    "bool": np.array([True, False]),
    "int8": np.array([-128, 127], np.int8),
    "int16": np.array([-1, 2], np.int16),
    "int32": np.array([-(2**31), 1], np.int32),
    "int64": np.array([2**53 + 1, -1], np.int64),
    "uint8": np.array([0, 255], np.uint8),
    "uint16": np.array([0, 65535], np.uint16),
    "uint32": np.array([0, 2**32 - 1], np.uint32),
    "uint64": np.array([0, 2**63], np.uint64),
    "float16": np.array([0.5, -2], np.float16),
    "float32": np.array([0.1, 1e30], np.float32),
    "float64": np.array([0.1, 1e300]),
    "str": np.array(["a", "é"], object),
}
TRITON = {
    "bool": "BOOL",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "float16": "FP16",
    "float32": "FP32",
    "float64": "FP64",
    "str": "BYTES",
}


def onnx_results():
    iris = onnxruntime.InferenceSession(ROOT / "examples/iris/model.onnx")
    digits = onnxruntime.InferenceSession(ROOT / "examples/digits/model.onnx")
    flowers = np.array([[5.1, 3.5, 1.4, 0.2], [6.7, 3.1, 5.6, 2.4]], np.float32)
    cells = np.random.default_rng(0).uniform(0, 16, (9, 64)).astype(np.float32)
    types = onnxruntime.InferenceSession(ROOT / "test/fixtures/onnx/types.onnx")
    all_types = {f"{name}_in": array for name, array in TYPES.items()}
    return {
        "iris": (flowers, iris.run(None, {"measurements": flowers})),
        "digits": (cells, digits.run(["probabilities"], {"cells": cells})),
        "types": dict(zip([output.name for output in types.get_outputs()], types.run(None, all_types))),
    }


def same(got, wanted):
    if wanted.dtype == object or wanted.dtype.kind in "US":
        texts = [value.decode() if isinstance(value, bytes) else value for value in got.ravel()]
        return got.shape == wanted.shape and texts == [str(value) for value in wanted.ravel()]
    return got.shape == wanted.shape and got.dtype == wanted.dtype and np.array_equal(got, wanted)


def triton_sync(name, module, client, onnx, recorder=None):
    """What both of tritonclient's synchronous clients have."""
    infer = client.infer
    attempt(name, "server live, ready", lambda: client.is_server_live() and client.is_server_ready())
    attempt(
        name,
        "model ready, with and without version",
        lambda: client.is_model_ready("double") and client.is_model_ready("double", "1"),
    )
    attempt(name, "model ready of an unknown model", lambda: not client.is_model_ready("none"))
    http = module is triton_http
    as_json = {} if http else {"as_json": True}
    attempt(name, "server metadata", lambda: client.get_server_metadata(**as_json)["name"] == "serving")
    metadata = lambda model: client.get_model_metadata(model, **as_json)  # noqa: E731
    attempt(name, "model metadata", lambda: metadata("double")["inputs"][0]["datatype"] == "FP32")
    attempt(
        name,
        "model metadata of an ONNX file",
        lambda: [each["name"] for each in metadata("iris")["outputs"]] == ["species", "probabilities"],
    )
    config = lambda: client.get_model_config("double", **as_json)  # noqa: E731
    attempt(name, "model config", lambda: (config() if http else config()["config"])["name"] == "double")
    attempt(name, "repository index", lambda: "iris" in json.dumps(client.get_model_repository_index(**as_json)))
    attempt(name, "load", lambda: client.load_model("double") is None)
    attempt(name, "load of an unknown model", lambda: refused(lambda: client.load_model("none"), "name of a model"))
    attempt(
        name,
        "unload of a fixed model",
        lambda: refused(lambda: client.unload_model("double"), "belongs to the service"),
    )
    modes = [("binary", {"binary_data": True}), ("JSON", {"binary_data": False})] if http else [("raw", {})]
    for mode, options in modes:
        outputs = (
            (lambda *names: [module.InferRequestedOutput(each, **options) for each in names])
            if http
            else (lambda *names: [module.InferRequestedOutput(each) for each in names])
        )
        cases = [
            ("FP32", "double", [("input", "FP32", ROWS)], ["output"], {"output": ROWS * 2}),
            (
                "BYTES",
                "words",
                [("input", "BYTES", WORDS)],
                ["output"],
                {"output": np.array(["a!", "é!", "!"], object)},
            ),
            (
                "several inputs",
                "form",
                SUM,
                ["sum", "text"],
                {"sum": np.array([2**53 + 2], np.int64), "text": np.array(["hi"], object)},
            ),
            (
                "an empty tensor",
                "double",
                [("input", "FP32", np.zeros((0, 2), np.float32))],
                ["output"],
                {"output": np.zeros((0, 2), np.float32)},
            ),
        ]
        odd = np.array([np.nan, np.inf, -np.inf, 0.1], np.float32)
        for what, model, arrays, names, wanted in cases:

            def run(model=model, arrays=arrays, names=names, wanted=wanted, what=what):
                if recorder:
                    recorder.take()
                result = infer(model, triton_inputs(module, arrays, **options), outputs=outputs(*names), request_id="7")
                if recorder:
                    record(name, f"infer {what}, {mode}", recorder, wanted)
                arrays_out = {each: result.as_numpy(each) for each in names}
                response = result.get_response()
                id_ = response["id"] if http else response.id
                return id_ == "7" and all(same(arrays_out[each], wanted[each]) for each in names), arrays_out

            attempt(name, f"infer {what}, {mode}", run)
        attempt(
            name,
            f"infer NaN and infinities, {mode}",
            lambda: np.array_equal(
                infer(
                    "echo", triton_inputs(module, [("input", "FP32", odd)], **options), outputs=outputs("output")
                ).as_numpy("output"),
                odd,
                equal_nan=True,
            ),
        )
        flowers, (species, probabilities) = onnx["iris"]

        def iris():
            result = infer(
                "iris",
                triton_inputs(module, [("measurements", "FP32", flowers)], **options),
                outputs=outputs("species", "probabilities"),
            )
            return same(result.as_numpy("species"), species) and np.array_equal(
                result.as_numpy("probabilities"), probabilities
            )

        attempt(name, f"iris.onnx equals onnxruntime, {mode}", iris)

        def types():
            skipped = () if mode != "JSON" else ("float16",)
            arrays = [(f"{each}_in", TRITON[each], array) for each, array in TYPES.items()]
            inputs = [
                triton_inputs(
                    module, [each], **(options if each[1] != "FP16" else ({"binary_data": True} if http else {}))
                )[0]
                for each in arrays
            ]
            result = infer("types", inputs, outputs=outputs(*onnx["types"]))
            wrong = [
                each
                for each, wanted in onnx["types"].items()
                if each[:-4] not in skipped and not same(result.as_numpy(each), wanted)
            ]
            return not wrong, wrong

        attempt(name, f"types.onnx, 13 inputs and outputs of every datatype, {mode}", types)
    cells, (digits,) = onnx["digits"]

    def all_digits():
        result = infer("digits", triton_inputs(module, [("cells", "FP32", cells)]))
        return np.allclose(result.as_numpy("probabilities"), digits, atol=1e-6)

    attempt(name, "digits.onnx, batched, equals onnxruntime", all_digits)
    half = np.array([1.5, -2], ml_dtypes.bfloat16)
    attempt(
        name,
        "infer BF16",
        lambda: np.array_equal(
            infer("echo", triton_inputs(module, [("input", "BF16", half)])).as_numpy("output"), half.astype(np.float32)
        ),
    )

    def classes():
        wanted = [module.InferRequestedOutput("output", class_count=2)]
        got = infer("double", triton_inputs(module, [("input", "FP32", ROWS)]), outputs=wanted).as_numpy("output")
        return [value.decode() for value in got.ravel()] == [
            "4.000000:1",
            "2.000000:0",
            "6.000000:0",
            "-9.000000:1",
        ], got

    attempt(name, "classification", classes)

    def parameters():
        inputs = triton_inputs(module, [("text_input", "BYTES", np.array([b"ab"], object))])
        return infer("spell", inputs, parameters={"times": 2}).as_numpy("text_output")[0] == b"abab"

    attempt(name, "parameters", parameters)
    attempt(
        name,
        "sequence and priority",
        lambda: (
            infer(
                "double",
                triton_inputs(module, [("input", "FP32", ROWS)]),
                sequence_id=3,
                sequence_start=True,
                priority=1,
                timeout=10**6,
            )
            is not None
        ),
    )
    wrong = [("input", "FP64", ROWS.astype(np.float64))]
    attempt(
        name,
        "a wrong datatype is 400",
        lambda: refused(
            lambda: infer("double", triton_inputs(module, wrong)),
            "expected datatype FP32",
            "400" if http else "StatusCode.INVALID_ARGUMENT",
        ),
    )
    attempt(
        name,
        "an unknown model is 404",
        lambda: refused(
            lambda: infer("none", triton_inputs(module, wrong)),
            "name of a model",
            "404" if http else "StatusCode.NOT_FOUND",
        ),
    )
    attempt(
        name,
        "a function that fails is 500",
        lambda: refused(
            lambda: infer("broken", triton_inputs(module, wrong)),
            "the function failed",
            "500" if http else "StatusCode.INTERNAL",
        ),
    )

    def statistics():
        read = lambda: client.get_inference_statistics("double", **as_json)["model_stats"][0]  # noqa: E731
        before = int(read()["execution_count"])
        infer("double", triton_inputs(module, [("input", "FP32", ROWS)]))
        after = read()
        return int(after["execution_count"]) == before + 1 and int(
            after["inference_stats"]["success"]["count"]
        ) == before + 1, after

    attempt(name, "statistics", statistics)


def triton_http_only(client, recorder):
    name = "tritonclient.http"
    for algorithm in ("gzip", "deflate"):

        def run(algorithm=algorithm):
            recorder.take()
            inputs = triton_inputs(triton_http, [("input", "FP32", ROWS)])
            result = client.infer(
                "double", inputs, request_compression_algorithm=algorithm, response_compression_algorithm=algorithm
            )
            record(name, f"infer, {algorithm} both ways", recorder, {"output": ROWS * 2})
            return np.array_equal(result.as_numpy("output"), ROWS * 2)

        attempt(name, f"infer, {algorithm} both ways", run)
    attempt(
        name,
        "async_infer",
        lambda: np.array_equal(
            client.async_infer("double", triton_inputs(triton_http, [("input", "FP32", ROWS)]))
            .get_result()
            .as_numpy("output"),
            ROWS * 2,
        ),
    )
    attempt(
        name,
        "shared memory is refused",
        lambda: refused(lambda: client.register_system_shared_memory("a", "/a", 8), "", "404"),
    )
    attempt(name, "trace settings are refused", lambda: refused(client.get_trace_settings, "", "404"))
    attempt(name, "log settings are refused", lambda: refused(client.get_log_settings, "", "404"))


def triton_grpc_only(client):
    name = "tritonclient.grpc"
    for algorithm in ("gzip", "deflate"):
        attempt(
            name,
            f"infer, {algorithm}",
            lambda algorithm=algorithm: np.array_equal(
                client.infer(
                    "double", triton_inputs(triton_grpc, [("input", "FP32", ROWS)]), compression_algorithm=algorithm
                ).as_numpy("output"),
                ROWS * 2,
            ),
        )

    def stream():
        answers, over = [], threading.Event()

        def callback(result, error):
            answers.append(str(error) if error else (result.get_response().id, result.as_numpy("text_output")))
            if len(answers) == 5:
                over.set()

        client.start_stream(callback)

        def text(word):
            return triton_inputs(triton_grpc, [("text_input", "BYTES", np.array([word], object))])

        client.async_stream_infer("spell", text(b"ab"), request_id="1")
        client.async_stream_infer("none", text(b"x"), request_id="2")
        client.async_stream_infer("spell", text(b"c"), request_id="3", enable_empty_final_response=True)
        over.wait(20)
        client.stop_stream()
        seen = [
            each if isinstance(each, str) else (each[0], None if each[1] is None else each[1][0]) for each in answers
        ]
        return (seen[0], seen[1], seen[3], seen[4]) == (
            ("1", b"a"),
            ("1", b"b"),
            ("3", b"c"),
            ("3", None),
        ) and "name of a model" in seen[2], seen

    attempt(name, "stream: pieces, an error, a final response; stop_stream", stream)

    def large():
        array = np.random.default_rng(1).standard_normal((500_000, 2)).astype(np.float32)
        return np.array_equal(
            client.infer("double", triton_inputs(triton_grpc, [("input", "FP32", array)])).as_numpy("output"), array * 2
        )

    attempt(name, "infer 4 MB", large)


async def triton_aio(http_url, grpc_url, recorder):
    name = "tritonclient.http.aio"
    async with triton_http_aio.InferenceServerClient(http_url) as client:

        async def calls():
            ready = await client.is_server_ready() and await client.is_model_ready("double")
            return (
                ready
                and (await client.get_model_metadata("double"))["name"] == "double"
                and await client.get_model_config("double")
            )

        await attempt_async(name, "health, metadata, config", calls)
        for mode, options in (("binary", {}), ("JSON", {"binary_data": False})):

            async def infer(options=options, mode=mode):
                outputs = [triton_http_aio.InferRequestedOutput("output", **options)]
                recorder.take()
                result = await client.infer(
                    "double", triton_inputs(triton_http_aio, [("input", "FP32", ROWS)], **options), outputs=outputs
                )
                record(name, f"infer, {mode}", recorder, {"output": ROWS * 2})
                return np.array_equal(result.as_numpy("output"), ROWS * 2)

            await attempt_async(name, f"infer, {mode}", infer)

        async def gzip():
            inputs = triton_inputs(triton_http_aio, [("input", "FP32", ROWS)])
            result = await client.infer(
                "double", inputs, request_compression_algorithm="gzip", response_compression_algorithm="gzip"
            )
            return np.array_equal(result.as_numpy("output"), ROWS * 2)

        await attempt_async(name, "infer, gzip both ways", gzip)

        async def many():
            inputs = triton_inputs(triton_http_aio, [("input", "FP32", ROWS)])
            results = await asyncio.gather(*(client.infer("double", inputs) for _ in range(100)))
            return all(np.array_equal(each.as_numpy("output"), ROWS * 2) for each in results)

        await attempt_async(name, "100 at once", many)

        async def control():
            await client.load_model("double")
            return (
                len(await client.get_model_repository_index()) > 5
                and (await client.get_inference_statistics("double"))["model_stats"]
            )

        await attempt_async(name, "load, index, statistics", control)
    name = "tritonclient.grpc.aio"
    async with triton_grpc_aio.InferenceServerClient(grpc_url) as client:

        async def calls():
            ready = await client.is_server_ready() and await client.is_model_ready("double")
            return (
                ready
                and (await client.get_model_metadata("double")).name == "double"
                and (await client.get_model_config("double")).config.name == "double"
            )

        await attempt_async(name, "health, metadata, config", calls)

        async def infer():
            result = await client.infer("double", triton_inputs(triton_grpc_aio, [("input", "FP32", ROWS)]))
            return np.array_equal(result.as_numpy("output"), ROWS * 2)

        await attempt_async(name, "infer", infer)

        async def stream():
            async def requests():
                for word in (b"ab", b"c"):
                    yield {
                        "model_name": "spell",
                        "inputs": triton_inputs(triton_grpc_aio, [("text_input", "BYTES", np.array([word], object))]),
                    }

            got = [
                result.as_numpy("text_output")[0]
                async for result, error in client.stream_infer(requests())
                if error is None
            ]
            return got == [b"a", b"b", b"c"], got

        await attempt_async(name, "stream_infer", stream)


async def kserve_clients(http_port, grpc_port, recorder):
    name = "kserve InferenceRESTClient"
    base = f"http://127.0.0.1:{http_port}"
    client = InferenceRESTClient(RESTConfig(protocol="v2"))

    async def ready():
        return (
            await client.is_server_live(base)
            and await client.is_server_ready(base)
            and await client.is_model_ready(base, "double")
        )

    await attempt_async(name, "live, ready, model ready", ready)
    for mode, binary in (("JSON", False), ("binary", True)):

        async def infer(mode=mode, binary=binary):
            tensor = InferInput("input", list(ROWS.shape), "FP32")
            tensor.set_data_from_numpy(ROWS, binary_data=binary)
            recorder.take()
            result = await client.infer(
                base, InferRequest(model_name="double", infer_inputs=[tensor]), model_name="double"
            )
            record(name, f"infer, {mode}", recorder, {"output": ROWS * 2})
            return np.array_equal(np.asarray(result.outputs[0].as_numpy()).reshape(ROWS.shape), ROWS * 2)

        await attempt_async(name, f"infer, {mode}", infer)

    async def fault():
        tensor = InferInput("input", [2], "FP32")
        tensor.set_data_from_numpy(ROWS[0], binary_data=False)
        try:
            await client.infer(base, InferRequest(model_name="double", infer_inputs=[tensor]), model_name="double")
        except Exception as error:  # noqa: BLE001
            return "expected shape" in str(error), error
        return False, "no error"

    await attempt_async(name, "reads the text of an error", fault)
    await client.close()
    name = "kserve InferenceGRPCClient"
    client = InferenceGRPCClient(f"127.0.0.1:{grpc_port}")

    async def grpc_ready():
        return (
            await client.is_server_live() and await client.is_server_ready() and await client.is_model_ready("double")
        )

    await attempt_async(name, "live, ready, model ready", grpc_ready)

    async def mixed():
        raw = InferInput("a", [2], "INT64")
        raw.set_data_from_numpy(SUM[0][2], binary_data=True)
        typed = InferInput("b", [1], "BYTES")
        typed.set_data_from_numpy(SUM[1][2], binary_data=False)
        result = await client.infer(InferRequest(model_name="form", infer_inputs=[typed, raw]))
        return result.outputs[0].as_numpy().tolist() == [2**53 + 2], result

    await attempt_async(name, "infer, raw and typed inputs in one request", mixed)
    await client.close()


def mlserver_client(program, port):
    with tempfile.TemporaryDirectory() as folder:
        requests, answers = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        rows = [
            {"inputs": [{"name": "input", "datatype": "FP32", "shape": [1, 2], "data": [i, i + 0.5]}]}
            for i in range(20)
        ]
        requests.write_text("\n".join(map(json.dumps, rows)))
        command = [
            program,
            "infer",
            "-u",
            f"127.0.0.1:{port}",
            "-m",
            "double",
            "-i",
            requests,
            "-o",
            answers,
            "-w",
            "4",
            "-s",
            "4",
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
        lines = [json.loads(line) for line in answers.read_text().splitlines()] if answers.exists() else []
        got = sorted(line["outputs"][0]["data"] for line in lines)
        check(
            "mlserver infer",
            "20 requests in micro-batches of 4",
            got == [[2.0 * i, 2.0 * i + 1] for i in range(20)],
            done.stderr[-800:] or got,
        )


def perf_analyzer(program, http_port, grpc_port):
    for what, options in (
        ("HTTP", ["-u", f"127.0.0.1:{http_port}"]),
        ("gRPC", ["-u", f"127.0.0.1:{grpc_port}", "-i", "grpc"]),
    ):
        command = [
            program,
            "-m",
            "double",
            "--shape",
            "input:8,2",
            "-p",
            "1000",
            "-s",
            "90",
            "--concurrency-range",
            "4",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
        found = re.search(r"throughput: ([\d.]+) infer/sec", done.stdout)
        check(
            "perf_analyzer",
            f"{what}: {found[1] if found else 'no'} infer/sec",
            done.returncode == 0 and found,
            done.stdout[-600:] + done.stderr[-600:],
        )


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--record", action="store_true")
    options.add_argument("--mlserver", default=shutil.which("mlserver"))
    options.add_argument("--perf-analyzer", default=shutil.which("perf_analyzer"))
    options.add_argument("--kserve", nargs=2, type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.kserve:
        http_port, grpc_port = given.kserve
        recorder = Recorder(http_port)
        grpc_recorder = GrpcRecorder(grpc_port)
        grpc_recorder.client = "kserve InferenceGRPCClient"
        asyncio.run(kserve_clients(recorder.port, grpc_recorder.port, recorder))
        print(json.dumps([recorded, list(grpc_recorder.calls.values())]))
        raise SystemExit(failures > 0)
    onnx = onnx_results()
    process, http_port, grpc_port = start_server()
    try:
        recorder = Recorder(http_port)
        grpc_recorder = GrpcRecorder(grpc_port)
        http_url, grpc_url = f"127.0.0.1:{recorder.port}", f"127.0.0.1:{grpc_recorder.port}"
        with triton_http.InferenceServerClient(http_url) as client:
            triton_sync("tritonclient.http", triton_http, client, onnx, recorder)
            triton_http_only(client, recorder)
        grpc_recorder.client = "tritonclient.grpc"
        with triton_grpc.InferenceServerClient(grpc_url) as client:
            triton_sync("tritonclient.grpc", triton_grpc, client, onnx)
            triton_grpc_only(client)
        grpc_recorder.client = "tritonclient.grpc.aio"
        asyncio.run(triton_aio(http_url, grpc_url, recorder))
        command = [sys.executable, __file__, "--kserve", str(http_port), str(grpc_port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        *lines, last = done.stdout.rstrip().split("\n")
        print("\n".join(lines))
        check("kserve", "runs in a process of its own", done.returncode == 0, done.stderr[-800:])
        kserve_rest, kserve_grpc = json.loads(last) if done.returncode == 0 else ([], [])
        recorded.extend(kserve_rest)
        grpc_calls = [*grpc_recorder.calls.values(), *kserve_grpc]
        if given.mlserver:
            mlserver_client(given.mlserver, http_port)
        else:
            print("skipped mlserver infer: no program mlserver")
        if given.perf_analyzer:
            perf_analyzer(given.perf_analyzer, http_port, grpc_port)
        else:
            print("skipped perf_analyzer: no program perf_analyzer")
    finally:
        process.terminate()
        process.wait(20)
    if given.record and failures == 0:
        (ROOT / "test/fixtures/oip").mkdir(exist_ok=True)
        # The test's service has no ONNX files; the index and all statistics would tell of them.
        others = re.compile(rb"\b(iris|digits|types)\b")
        own = [
            each
            for each in grpc_calls
            if not any(others.search(base64.b64decode(piece)) for piece in each["messages"] + each["answers"])
        ]
        for name, calls in (("clients", recorded), ("clients-grpc", own)):
            text = ",\n".join(json.dumps(each, ensure_ascii=False) for each in calls)
            (ROOT / f"test/fixtures/oip/{name}.json").write_text(f"[\n{text}\n]\n")
    print(f"{failures} wrong")
    raise SystemExit(failures > 0)


if __name__ == "__main__":
    main()
