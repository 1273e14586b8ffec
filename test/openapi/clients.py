"""
Clients that others' generators make from the OpenAPI document, called against a running server, and the document itself
checked by a validator in Python.

    python3 -m venv .venv && .venv/bin/pip install openapi-python-client==0.29.1 openapi-spec-validator ruff
    npm run build && .venv/bin/python test/openapi/clients.py

Also checks that the types in test/fixtures/openapi, made by openapi-typescript (which needs TypeScript 5), are those of
the document; `--write` renews them. Prints a line for each check and exits with 1 when one fails.
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

ROOT = Path(__file__).resolve().parents[2]
SERVICE = "test/openapi/every.service.ts"
TYPES = ROOT / "test/fixtures/openapi/every.d.mts"
failures = 0


def check(what, ok, seen=None):
    global failures
    print(("ok    " if ok else "WRONG ") + what + ("" if ok else f": {seen!r}"))
    failures += not ok


def serving(*args, **options):
    return ["node", "dist/cli/main.js", *args]


def start_server():
    command = serving("serve", SERVICE, "--port", "0", "--host", "127.0.0.1", "--workers", "1")
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        if found := re.search(r"at (http://\S*?:\d+)", line):
            return process, found[1].replace("localhost", "127.0.0.1")
    raise SystemExit("the server did not start")


def typescript(folder):
    """The types that openapi-typescript makes now."""
    made = folder / "every.d.mts"
    (folder / "package.json").write_text("{}")
    packages = ["openapi-typescript@7.13.0", "typescript@5"]
    subprocess.run(["npm", "install", "--silent", "--no-audit", *packages], cwd=folder, check=True)
    command = ["npx", "openapi-typescript", str(folder / "openapi.json"), "-o", str(made)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    if "--write" in sys.argv:
        TYPES.write_text(made.read_text())
    check("openapi-typescript makes the types that the tests use", made.read_text() == TYPES.read_text())


def python(folder, url):
    """
    openapi-python-client knows bodies of JSON, forms and bytes; texts and pictures are bytes to it. It gets the first
    media type of each request: with several, 0.29.1 leaves an import out and asks whether a value is an instance of
    `list[…]`, which Python does not tell.
    """
    document = json.loads((folder / "openapi.json").read_text())
    for item in document["paths"].values():
        body = item.get("post", {}).get("requestBody", {})
        body["content"] = dict(list(body.get("content", {}).items())[:1])
    (folder / "first.json").write_text(json.dumps(document))
    (folder / "config.yml").write_text(
        'content_type_overrides: {"text/plain": "application/octet-stream", "image/png": "application/octet-stream"}\n'
    )
    command = [Path(sys.executable).parent / "openapi-python-client", "generate", "--path", folder / "first.json"]
    paths = ["--config", folder / "config.yml", "--output-path", folder / "client"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run([*command, *paths], check=True, capture_output=True, env=environment)
    sys.path.insert(0, str(folder / "client"))
    from every_descriptor_client import Client, models
    from every_descriptor_client.api.every_descriptor import (
        array,
        file,
        form,
        frame,
        grow,
        image,
        labels,
        series,
        text,
        total,
        typed_frame,
        upload,
    )
    from every_descriptor_client.api.health import readyz
    from every_descriptor_client.types import File

    client = Client(base_url=url)
    check("arrays", array.sync(client=client, body=[[1.5, None]]) == [[1.5, None]])
    problem = array.sync_detailed(client=client, body=[[1]])
    check("problems", problem.status_code == 400 and problem.parsed.reason == "shape", problem)
    split = typed_frame.sync(client=client, body=[models.TypedFrameBodyItem(a=1.5, b=2)])
    check("frames", split.columns == ["a", "b"] and split.data == [[1.5, 2]], split)
    check("series", series.sync(client=client, body=[1.5, 2]) == [1.5, 2.0])
    items = models.TotalBody(items=[models.Item(name="tea", amount=2), models.Item(name="cup")])
    check("schemas of zod", total.sync(client=client, body=items).total == 3)
    grown = grow.sync(client=client, body=models.GrowRequest(value=1, children=[]))
    check("recursive schemas", grown.value == 2 and grown.children[0].value == 1, grown)
    as_file = lambda content, name=None, type=None: File(payload=io.BytesIO(content), file_name=name, mime_type=type)
    check("queries", json.loads(labels.sync_detailed(client=client, top=2).content) == ["a", "b"])
    check("text", text.sync_detailed(client=client, body=as_file("é".encode())).content == "é".encode())
    check("files", file.sync(client=client, body=as_file(b"\x00\xff")).payload.read() == b"\x00\xff")
    png = (ROOT / "examples/all/pattern.png").read_bytes()
    pixels = image.sync(client=client, body=as_file(png)).payload.read()
    check("pictures", pixels.startswith(b"\x89PNG"), pixels)
    parts = models.FormBody(arr=json.dumps([1, 2]), note="é", pic=as_file(png, "p.png", "image/png"))
    answer = form.sync_detailed(client=client, body=parts)
    check("forms", answer.status_code == 200 and b"[1.0,2.0]" in answer.content, answer)
    sizes = upload.sync_detailed(
        client=client, body=models.UploadBody(images=[as_file(b"abc", "a"), as_file(b"de", "b")])
    )
    check("repeated parts", json.loads(sizes.content) == {"sizes": [3, 2], "note": None}, sizes)
    check("health", readyz.sync_detailed(client=client).content == b"ok\n")


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    text = subprocess.run(serving("openapi", SERVICE), cwd=ROOT, check=True, capture_output=True, text=True).stdout
    (folder / "openapi.json").write_text(text)
    server, url = start_server()
    try:
        import urllib.request

        served = {name: json.load(urllib.request.urlopen(f"{url}/{name}.json")) for name in ("openapi", "docs")}
        check("serving openapi prints what the server serves", served["openapi"] == json.loads(text))
        for name, document in served.items():
            errors = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
            check(f"openapi-spec-validator finds nothing wrong with {name}.json", errors == [], errors)
        typescript(folder)
        python(folder, url)
    finally:
        server.terminate()
        server.wait()
print(f"{failures} failed")
sys.exit(failures > 0)
