"""
perf_analyzer against `serving` and a real Triton in turns: identity models on CPUs, servers on core 0, perf_analyzer on
core 1.

    npm run build && PYTHON bench/peers/python/oip_perf.py PERF_ANALYZER [--rounds 3] [--seconds 1.5] [--only rows]

PYTHON has nvidia-pytriton==0.7.0, see test/oip/python/triton.py; perf_analyzer 2.50 is in the wheel of
tritonclient==2.50.0. Prints for each model, protocol and server the median of requests per second, and the server's CPU
per request.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SERVICE = """
import { io, Service } from 'serving'
const svc = new Service('perf')
const tensor = (shape) => new io.NumpyNdarray({ dtype: 'float32', shape })
svc.api({ input: tensor([-1, 4]), output: tensor([-1, 4]) }, function rows(x) { return x })
svc.api({ input: tensor([-1, 3, 224, 224]), output: tensor([-1, 3, 224, 224]) }, function picture(x) { return x })
export default svc
"""
JOBS = [
    ("rows", "http", "json"),
    ("rows", "http", "binary"),
    ("rows", "grpc", "raw"),
    ("picture", "http", "binary"),
    ("picture", "grpc", "raw"),
]
SHAPES = {"rows": "input:1,4", "picture": "input:1,3,224,224"}
CONCURRENCY = {"rows": "16", "picture": "8"}


def cpu_of(pid):
    """CPU seconds of a process and its descendants."""
    total, wanted = 0, {str(pid)}
    stats = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            stats[folder.name] = (fields[1], int(fields[11]) + int(fields[12]))
    grown = True
    while grown:
        more = {name for name, (parent, _) in stats.items() if parent in wanted} - wanted
        wanted |= more
        grown = bool(more)
    for name in wanted:
        total += stats.get(name, ("", 0))[1]
    return total / os.sysconf("SC_CLK_TCK")


def answered(port, model):
    """Requests that a server has answered."""
    stats = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/{model}/stats"))
    return stats["model_stats"][0]["inference_stats"]["success"]["count"]


def started(command, port):
    pinned = ["taskset", "-c", "0", *map(str, command)]
    child = subprocess.Popen(pinned, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/picture/ready").status == 200:
                return child
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{command} did not start")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perf_analyzer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    (folder / "node_modules").mkdir()
    (folder / "node_modules/serving").symlink_to(ROOT)
    (folder / "service.mjs").write_text(SERVICE)
    ports = {"serving": (18100, 18101), "triton": (18200, 18201)}
    at = ["--workers", "1", "--port", 18100, "--grpc-port", 18101]
    serve = ["node", "dist/cli/main.js", "serve", folder / "service.mjs", *at]
    models = ["rows:TYPE_FP32:-1,4", "picture:TYPE_FP32:-1,3,224,224"]
    triton = [sys.executable, "test/oip/python/triton.py", 18200, 18201, *models]
    servers = {"serving": started(serve, 18100), "triton": started(triton, 18200)}
    try:
        for model, kind, form in JOBS:
            if options.only not in model:
                continue
            seen = {name: [] for name in servers}
            for turn in range(options.rounds + 1):
                for name, child in servers.items():
                    port = ports[name][0]
                    before, done = cpu_of(child.pid), answered(port, model)
                    target = f"127.0.0.1:{ports[name][kind == 'grpc']}"
                    command = ["taskset", "-c", "1", options.perf_analyzer, "-m", model, "-i", kind, "-u", target]
                    command += ["--shape", SHAPES[model], "--concurrency-range", CONCURRENCY[model]]
                    # Three windows, whatever they show.
                    command += ["-p", str(int(options.seconds * 1000)), "-s", "999", "-r", "3"]
                    if kind == "http":
                        command += ["--input-tensor-format", form, "--output-tensor-format", form]
                    text = subprocess.run(command, capture_output=True, text=True).stdout
                    rate = re.search(r"throughput: ([\d.]+)", text)
                    if rate is None:
                        raise SystemExit(f"{name}: {text}")
                    # The first turn warms up.
                    if turn:
                        requests = answered(port, model) - done
                        seen[name].append((float(rate[1]), (cpu_of(child.pid) - before) * 1e6 / requests))
            found = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in seen.items()}
            (rate, cpu), (their_rate, their_cpu) = found["serving"], found["triton"]
            ours, theirs = f"serving {rate:.0f}/s, {cpu:.0f} µs", f"triton {their_rate:.0f}/s, {their_cpu:.0f} µs"
            print(f"{model} {kind} {form}: {ours}; {theirs}; "
                  f"rate {rate / their_rate:.2f}, CPU {their_cpu / cpu:.2f}", flush=True)
    finally:
        for child in servers.values():
            child.terminate()


if __name__ == "__main__":
    main()
