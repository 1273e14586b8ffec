"""The client of LitServe's benchmark of streams: one session of requests, line by line. Arguments: URL and seconds.

Prints a line of JSON for each stream: pieces, seconds, and seconds until the first piece.
"""

import json
import sys
import time

import requests

url, seconds = sys.argv[1], float(sys.argv[2])
session = requests.Session()
deadline = time.perf_counter() + seconds
while time.perf_counter() < deadline:
    start = time.perf_counter()
    first = None
    count = 0
    response = session.post(url, stream=True, json={"input": 1})
    response.raise_for_status()
    for line in response.iter_lines():
        if line:
            first = first or time.perf_counter() - start
            count += 1
    print(json.dumps({"pieces": count, "seconds": time.perf_counter() - start, "first": first}), flush=True)
