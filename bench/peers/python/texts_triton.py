"""Triton with ragged dynamic batching, whose bounds BENCH_BATCH and BENCH_WAIT_MS set.

    python texts_triton.py PORT GRPC_PORT
"""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "test/oip/python"))
from triton import packages_of, run_triton

MODEL = """
import sys
# The backend's own interpreter reads no PYTHONPATH.
sys.path[:0] = PATHS
import triton_python_backend_utils as pb_utils
from texts import Texts

class TritonPythonModel:
    def initialize(self, args):
        self.texts = Texts()

    def execute(self, requests):
        texts = [pb_utils.get_input_tensor_by_name(request, "text").as_numpy()[0] for request in requests]
        scores = self.texts.scores(texts)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("scores", row[None])]) for row in scores]
"""

CONFIG = """
backend: "python"
max_batch_size: %s
input [{ name: "text" data_type: TYPE_INT32 dims: [-1] allow_ragged_batch: true }]
output [{ name: "scores" data_type: TYPE_FP32 dims: [8] }]
dynamic_batching { max_queue_delay_microseconds: %s }
instance_group [{ kind: KIND_CPU count: 1 }]
"""


def main():
    port, grpc_port = sys.argv[1:]
    folder = Path(tempfile.mkdtemp())
    place = folder / "models/texts/1"
    place.mkdir(parents=True)
    paths = [str(packages_of()), str(Path(__file__).parent)]
    (place / "model.py").write_text(MODEL.replace("PATHS", repr(paths)))
    delay = int(os.environ["BENCH_WAIT_MS"]) * 1000
    (place.parent / "config.pbtxt").write_text(CONFIG % (os.environ["BENCH_BATCH"], delay))
    server = run_triton(folder, port, grpc_port)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    status = server.wait()
    print((folder / "triton.log").read_text()[-2000:], file=sys.stderr)
    shutil.rmtree(folder)
    raise SystemExit(status)


main()
