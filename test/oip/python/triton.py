"""
A real Triton 2.51 on CPUs, as nvidia-pytriton brings it, with small models in Python.

    python3 -m venv .triton && .triton/bin/pip install nvidia-pytriton==0.7.0 'setuptools<81'
    .triton/bin/python test/oip/python/triton.py PORT GRPC_PORT NAME:TYPE_FP32:-1,4 …

As a program it serves models of that name, datatype and shape until it is ended. They give their only input back, or
what a fourth part makes of it, an expression of the numpy array `x`.
"""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

CODE = """
import sys
# The backend's own interpreter reads no PYTHONPATH.
sys.path.insert(0, PACKAGES)
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            tensor = pb_utils.get_input_tensor_by_name(request, "input")
            answers.append(pb_utils.InferenceResponse([RESULT]))
        return answers
"""

NUMPY = 'pb_utils.Tensor("output", (lambda x: WORK)(tensor.as_numpy()))'
# numpy has no BF16.
SAME = 'pb_utils.Tensor.from_dlpack("output", tensor.to_dlpack())'


def start_triton(folder, models, port, grpc_port):
    """Starts a server in a folder. `models`: by name a datatype, a shape and an expression of the numpy
    array `x`; None gives the input back."""
    for name, (kind, dims, work) in models.items():
        place = folder / "models" / name / "1"
        place.mkdir(parents=True)
        (place / "model.py").write_text(
            CODE.replace("RESULT", SAME if work is None else NUMPY.replace("WORK", work)).replace(
                "PACKAGES", repr(str(packages_of()))
            )
        )
        tensors = "\n".join(
            f'{side} [{{ name: "{side}" data_type: {kind} dims: {dims} }}]' for side in ("input", "output")
        )
        (place.parent / "config.pbtxt").write_text(f'backend: "python"\nmax_batch_size: 0\n{tensors}\n')
    return run_triton(folder, port, grpc_port)


def packages_of():
    return Path(sysconfig.get_paths()["purelib"])


def run_triton(folder, port, grpc_port):
    """Starts a server of the models in a folder."""
    packages = packages_of()
    server = packages / "pytriton/tritonserver"
    backend = folder / "backends/python"
    shutil.copytree(server / "backends/python", backend)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stub = shutil.copy(server / f"python_backend_stubs/{version}/triton_python_backend_stub", backend)
    os.chmod(stub, 0o755)
    environment = dict(
        os.environ,
        PYTHONPATH=str(packages),
        LD_LIBRARY_PATH=f"{packages / 'nvidia_pytriton.libs'}:{sysconfig.get_config_var('LIBDIR')}",
    )
    command = [
        server / "bin/tritonserver",
        f"--model-repository={folder / 'models'}",
        f"--backend-directory={folder / 'backends'}",
        f"--http-port={port}",
        "--http-address=127.0.0.1",
        f"--grpc-port={grpc_port}",
        "--grpc-address=127.0.0.1",
        "--allow-metrics=false",
        "--model-control-mode=explicit",
        "--load-model=*",
        "--exit-on-error=false",
    ]
    log = open(folder / "triton.log", "w")
    return subprocess.Popen(list(map(str, command)), env=environment, stdout=log, stderr=log)


def main():
    port, grpc_port, *models = sys.argv[1:]
    folder = Path(tempfile.mkdtemp())
    parts = [f"{model}:x".split(":", 3) for model in models]
    wanted = {name: (kind, f"[{dims}]", work.removesuffix(":x")) for name, kind, dims, work in parts}
    server = start_triton(folder, wanted, port, grpc_port)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    status = server.wait()
    print((folder / "triton.log").read_text()[-2000:], file=sys.stderr)
    shutil.rmtree(folder)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
