"""
BentoML's own clients, unmodified, against a running server: the HTTP clients of 1.1.11 and the gRPC client of 1.1.6,
which is broken from 1.1.7 on.

    for v in 1.1.11 1.1.6; do
      python3 -m venv .venv-$v && \
        .venv-$v/bin/pip install "bentoml[grpc,io-image,io-pandas]==$v" 'setuptools<81' 'numpy<2' 'pandas<2.3' \
        'starlette==0.35.1' 'python-multipart==0.0.6' 'pillow<12' 'pyarrow<21' 'protobuf<4' 'grpcio==1.59.5'
    done
    npm run build
    .venv-1.1.11/bin/python test/rpc/python/bentoml_clients.py && \
      .venv-1.1.6/bin/python test/rpc/python/bentoml_clients.py

Prints a line for each descriptor and client, and exits with 1 when one fails. `--record` writes what the clients send
and read to test/fixtures/bentoml/, from which `npm test` replays it.
"""

import asyncio
import base64
import http.client
import io
import json
import re
import subprocess
import sys
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

warnings.filterwarnings("ignore")
import bentoml
import numpy as np
import pandas as pd
from bentoml.client import Client
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
SERVICE = ROOT / "test/openapi/every.service.ts"
FIXTURES = ROOT / "test/fixtures/bentoml"
failures = 0


def check(client, api, ok, seen=None):
    global failures
    print(f"{'ok   ' if ok else 'WRONG'} {client:<28} {api}" + ("" if ok else f": {seen!r}"))
    failures += not ok


def start_server():
    command = ["node", "dist/cli/main.js", "serve", str(SERVICE), "--port", "0", "--grpc-port", "0", "--workers", "1"]
    process = subprocess.Popen(
        command + ["--host", "127.0.0.1"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    ports = {}
    for line in process.stdout:
        if found := re.search(r"at http://\S*?:(\d+)", line):
            ports["http"] = int(found[1])
        if found := re.search(r"gRPC at \S*?:(\d+)", line):
            ports["grpc"] = int(found[1])
        if len(ports) == 2:
            return process, ports
    raise SystemExit("the server did not start")


class Recorder(BaseHTTPRequestHandler):
    """Passes requests on to the server and keeps them with their answers."""

    protocol_version = "HTTP/1.1"
    port = 0
    calls = []

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server = http.client.HTTPConnection("127.0.0.1", self.port)
        server.request(self.command, self.path, body, dict(self.headers))
        answer = server.getresponse()
        received = answer.read()
        if self.command == "POST":
            encode = lambda data: base64.b64encode(data).decode()
            request = {"contentType": self.headers["content-type"], "body": encode(body)}
            response = {"contentType": answer.headers["content-type"], "body": encode(received)}
            self.calls.append({"path": self.path, "request": request, "status": answer.status, "response": response})
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(received)))
        self.end_headers()
        self.wfile.write(received)

    do_GET = do_POST = forward

    def log_message(self, *_):
        pass


picture = Image.new("RGB", (2, 2), (255, 0, 0))
frame = pd.DataFrame({"a": [1.5, 2.0], "b": [1, 2]})
items = {"items": [{"name": "tea", "amount": 2}, {"name": "cup"}]}


def same(expected):
    def compare(seen):
        if isinstance(expected, pd.DataFrame):
            return seen.astype(expected.dtypes.to_dict()).equals(expected)
        if isinstance(expected, pd.Series):
            return seen.tolist() == expected.tolist()
        if isinstance(expected, np.ndarray):
            return np.array_equal(seen, expected) and seen.shape == expected.shape
        return seen == expected

    return compare


def pixels(seen):
    return seen.size == (2, 2) and seen.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


def read(seen):
    return (seen if isinstance(seen, bytes) else seen.read()) == b"\x00\xffbytes"


# Name of the API, the input (keywords for a form), and what the answer must be.
cases = [
    ("array", np.float32([[1.5, -2], [0.1, 4]]), same(np.float32([[1.5, -2], [0.1, 4]]))),
    ("any_array", np.float64([[[1], [2]]]), same(np.float64([[[1], [2]]]))),
    ("frame", pd.DataFrame({"a": [1, 2], "b": ["x", "é"]}), same(pd.DataFrame({"a": [1, 2], "b": ["x", "é"]}))),
    ("typed_frame", frame, same(frame)),
    # BentoML writes the index as a column without a name, and reads it as one called `Unnamed: 0`.
    ("csv", frame, lambda seen: seen[["a", "b"]].equals(frame)),
    ("parquet", frame, same(frame)),
    ("series", pd.Series([1.5, 2.0]), same(pd.Series([1.5, 2.0]))),
    ("json", {"a": [1, 2.5, None, "é"], "b": {"c": True}}, same({"a": [1, 2.5, None, "é"], "b": {"c": True}})),
    ("json", None, same(None)),
    ("total", items, same({"total": 3})),
    ("grow", {"value": 1, "children": []}, same({"value": 2, "children": [{"value": 1, "children": []}]})),
    ("text", "héllo\nworld", same("héllo\nworld")),
    ("words", "a b", lambda seen: [line for line in seen.split("\n") if line] == ["data: a", "data: b"]),
    ("image", picture, pixels),
    ("file", io.BytesIO(b"\x00\xffbytes"), read),
    (
        "form",
        {"arr": np.float64([1, 2]), "note": "é", "pic": picture, "doc": io.BytesIO(b"doc")},
        lambda seen: seen["note"] == "é" and np.array_equal(seen["arr"], np.float64([1, 2])),
    ),
    ("upload", {"images": io.BytesIO(b"123"), "note": "n"}, same({"sizes": [3], "note": "n"})),
    ("sample", np.float64([[1, 2]]), same([1, 2])),
]
forms = ("form", "upload")


def rewind(value):
    for each in value.values() if isinstance(value, dict) else [value]:
        if isinstance(each, io.BytesIO):
            each.seek(0)


def http_clients(ports):
    Recorder.port = ports["http"]
    recorder = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=recorder.serve_forever, daemon=True).start()
    urls = {
        "Client.from_url": f"http://127.0.0.1:{recorder.server_port}",
        "SyncHTTPClient": f"http://127.0.0.1:{ports['http']}",
    }
    for name, url in urls.items():
        cls = Client if name.startswith("Client") else bentoml.client.SyncHTTPClient
        client = cls.from_url(url)
        check(name, "health", client.health().status_code == 200)
        check(name, "no custom descriptor", not hasattr(client, "shout"))
        for api, value, is_right in cases:
            rewind(value)
            try:
                seen = getattr(client, api)(**value) if api in forms else getattr(client, api)(value)
                check(name, api, is_right(seen), seen)
            except Exception as error:
                check(name, api, False, error)
    asyncio.run(async_client(f"http://127.0.0.1:{ports['http']}"))
    recorder.shutdown()
    document = json.load(__import__("urllib.request").request.urlopen(f"{urls['SyncHTTPClient']}/docs.json"))
    return {"document": members(document), "calls": Recorder.calls}


async def async_client(url):
    name = "AsyncHTTPClient"
    client = await bentoml.client.AsyncHTTPClient.from_url(url)
    for api, value, is_right in cases:
        rewind(value)
        try:
            seen = await (getattr(client, api)(**value) if api in forms else getattr(client, api)(value))
            check(name, api, is_right(seen), seen)
        except Exception as error:
            check(name, api, False, error)


def members(document):
    """What the clients read of the document."""
    operations = {}
    for path, item in document["paths"].items():
        for operation in item.values():
            if isinstance(operation, dict) and "Service APIs" in operation.get("tags", []):
                operations[path] = {
                    "name": operation["x-bentoml-name"],
                    "description": operation["description"],
                    "input": operation["requestBody"]["x-bentoml-io-descriptor"],
                    "output": operation["responses"]["200"]["x-bentoml-io-descriptor"],
                }
    return {"title": document["info"]["title"], "operations": operations}


def grpc_client(ports):
    from google.protobuf import json_format
    from grpc import aio

    calls = []

    class Keep(aio.UnaryUnaryClientInterceptor):
        async def intercept_unary_unary(self, continuation, details, request):
            call = await continuation(details, request)
            response = await call
            method = details.method if isinstance(details.method, str) else details.method.decode()
            encode = lambda message: base64.b64encode(message.SerializeToString()).decode()
            calls.append({"method": method, "request": encode(request), "response": encode(response)})
            return response

    name = "gRPC " + bentoml.__version__
    client = Client.from_url(f"127.0.0.1:{ports['grpc']}", kind="grpc", interceptors=[Keep()])
    # The client gives the message as it is.
    number = lambda values: lambda seen: list(seen.ndarray.float_values or seen.ndarray.double_values) == values
    decoded = {
        "array": number([1.5, -2, np.float32(0.1), 4]),
        "any_array": number([1, 2]),
        "frame": lambda seen: list(seen.dataframe.columns[0].int64_values) == [1, 2],
        "typed_frame": lambda seen: list(seen.dataframe.columns[0].double_values) == [1.5, 2.0],
        "csv": lambda seen: list(seen.dataframe.column_names) == ["a", "b"],
        "parquet": lambda seen: list(seen.dataframe.column_names) == ["a", "b"],
        "series": lambda seen: list(seen.series.double_values) == [1.5, 2.0],
        "json": lambda seen: (
            json_format.MessageToDict(seen.json) in (None, {"a": [1, 2.5, None, "é"], "b": {"c": True}})
        ),
        "total": lambda seen: json_format.MessageToDict(seen.json) == {"total": 3},
        "grow": lambda seen: json_format.MessageToDict(seen.json)["value"] == 2,
        "text": lambda seen: seen.text.value == "héllo\nworld",
        "words": lambda seen: seen.text.value.split() == ["data:", "a", "data:", "b"],
        "image": lambda seen: pixels(Image.open(io.BytesIO(seen.file.content))),
        "form": lambda seen: seen.multipart.fields["note"].text.value == "é",
        "sample": lambda seen: json_format.MessageToDict(seen.json) == [1, 2],
    }

    async def run():
        for api, value, _ in cases:
            rewind(value)
            if api in ("file", "upload"):
                continue  # This client has no message for files.
            if api == "form":
                value = {name: part for name, part in value.items() if name != "doc"}
            if api == "frame":
                value = value[["a"]]  # Nor has it one for columns of objects, such as text.
            is_right = decoded[api]
            try:
                call = client._call
                bound = client._svc.apis[api]
                seen = await (call(_bentoml_api=bound, **value) if api in forms else call(value, _bentoml_api=bound))
                check(name, api, bool(is_right(seen)), seen)
            except Exception as error:
                check(name, api, False, error)
        health = await client.health("bentoml.grpc.v1.BentoService")
        check(name, "health", health.status == 1, health)

    check(name, "no custom descriptor", "shout" not in client._svc.apis)
    asyncio.run(run())
    return {"calls": calls}


server, ports = start_server()
try:
    is_http = bentoml.__version__ == "1.1.11"
    recorded = http_clients(ports) if is_http else grpc_client(ports)
    if "--record" in sys.argv:
        FIXTURES.mkdir(exist_ok=True)
        name = "http.json" if is_http else "grpc.json"
        (FIXTURES / name).write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
finally:
    server.terminate()
    server.wait()
print(f"{failures} failed")
sys.exit(failures > 0)
