"""Submits tasks by BentoML's own client and records its requests with their answers.

pip install bentoml==1.4.19, serve tasks.service.ts, then:
python bentoml_tasks.py URL > ../../fixtures/bentoml/tasks.json
The client of BentoML 1.4.30, 1.4.38 and 1.4.40 fails in `submit`, whatever the server answers.
"""

import json
import sys
import time

import bentoml
import numpy

seen = []


def record(response):
    response.read()
    request = response.request
    seen.append(
        {
            "method": request.method,
            "path": request.url.raw_path.decode(),
            "type": request.headers.get("content-type"),
            "body": request.read().decode(),
            "status": response.status_code,
            "answer": response.text,
        }
    )


def done(task):
    while task.get_status().value not in ("completed", "failed", "canceled"):
        time.sleep(0.05)
    return task.get()


client = bentoml.SyncHTTPClient(sys.argv[1])
client.client.event_hooks["response"].append(record)
first = client.double.submit([1, 2])
assert done(first) == [2, 4]
assert done(first.retry()) == [2, 4]
assert done(client.shout.submit("grün")) == "GRÜN"
assert done(client.same.submit(numpy.array([[1.5, 2.0]]))).tolist() == [[1.5, 2.0]]
held = client.hold.submit(0)
try:
    held.get()
except bentoml.exceptions.BentoMLException as error:
    assert "not completed yet" in str(error)
held.cancel()
try:
    done(held)
except bentoml.exceptions.BentoMLException:
    pass
assert held.get_status().value == "canceled"
json.dump(seen, sys.stdout, indent=1, ensure_ascii=False)
