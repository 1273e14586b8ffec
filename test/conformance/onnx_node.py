"""
ONNX's backend tests of single operators, `onnx/backend/test/data/node` of the Python package, as models of `serving
models`: loaded, called by tritonclient and unloaded, one after the other. Outputs are compared with those of the suite
as its own runner does (`rtol=1e-3`, `atol=1e-7`). onnxruntime of the same version runs the same models beside it.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.21.0 onnxruntime==1.30.0 'tritonclient[http]'
    .venv/bin/python test/conformance/onnx_node.py .venv/lib/python3.11/site-packages/onnx/backend/test/data/node
"""

import re
import shutil
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import tritonclient.http as triton
from onnx import numpy_helper
from suite import Report, Server, arguments
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

args = arguments()
report = Report(
    "ONNX node tests",
    "PyPI onnx",
    args.suite_version or onnx.__version__,
    f"Each model must answer as the suite says. Beside it runs onnxruntime {onnxruntime.__version__} for Python.",
)
onnxruntime.set_default_logger_severity(4)


class NoTensor(Exception):
    """An input or output that the protocol has no datatype for."""


def tensor_of(path, kind):
    """The value of a file of the suite."""
    if kind.WhichOneof("value") != "tensor_type":
        raise NoTensor(f"a {kind.WhichOneof('value').removesuffix('_type')} instead of a tensor")
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    array = numpy_helper.to_array(tensor)
    if array.dtype != ml_dtypes.bfloat16 and np_to_triton_dtype(array.dtype) is None:
        raise NoTensor(f"elements of {onnx.TensorProto.DataType.Name(tensor.data_type)}")
    return array


def data_of(folder, model):
    """Names with values: (inputs, outputs) of each set of data."""
    initial = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in initial]
    for data in sorted(folder.glob("test_data_set_*")):
        yield [
            [
                (value.name, tensor_of(data / f"{way}_{i}.pb", value.type))
                for i, value in enumerate(values)
                if (data / f"{way}_{i}.pb").exists()
            ]
            for way, values in (("input", inputs), ("output", model.graph.output))
        ]


def requested(name, array):
    is_bf16 = array.dtype == ml_dtypes.bfloat16
    tensor = triton.InferInput(name, array.shape, "BF16" if is_bf16 else np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array.astype(np.float32) if is_bf16 else array)
    return tensor


def same(got, wanted):
    """As ONNX's runner compares."""
    if wanted.dtype == object or wanted.dtype.kind in "US":
        texts = lambda array: [v.decode() if isinstance(v, bytes) else str(v) for v in np.ravel(array)]
        return got.shape == wanted.shape and texts(got) == texts(wanted)
    if got.shape != wanted.shape:
        return False
    return np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=1e-3, atol=1e-7, equal_nan=True)


def by_onnxruntime(file, sets):
    """What onnxruntime makes of it: None where it is right, or else why not."""
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        for inputs, outputs in sets:
            got = session.run([name for name, _ in outputs], dict(inputs))
            if not all(same(np.asarray(a), b) for a, (_, b) in zip(got, outputs)):
                return "other values"
        return None
    except Exception as error:  # noqa: BLE001
        return reason(error)


def reason(error):
    """A short reason without what differs between models."""
    text = re.sub(r"\s+", " ", str(error))
    if "NOT_IMPLEMENTED" in text or "Could not find an implementation" in text:
        return "onnxruntime has no implementation of the operator"
    if "opset" in text.lower() or "IR version" in text or "is not a registered function" in text:
        return "a newer opset, or an operator that onnxruntime does not know"
    text = re.sub(r"'[^']*'|\"[^\"]*\"|test_\w+|/\S+", "…", text)
    return text[:150]


def by_serving(client, repository, file, sets):
    """What the server makes of it: None where it is right, or else what differs."""
    name = file.parent.name
    version = Path(repository) / name / "1"
    version.mkdir(parents=True)
    shutil.copy(file, version)
    client.load_model(name)
    try:
        for inputs, outputs in sets:
            wanted = [triton.InferRequestedOutput(output) for output, _ in outputs]
            result = client.infer(name, [requested(*each) for each in inputs], outputs=wanted)
            for output, value in outputs:
                if not same(result.as_numpy(output), value):
                    return f"{output} is {result.as_numpy(output)!r} instead of {value!r}"
        return None
    finally:
        client.unload_model(name)
        shutil.rmtree(version.parent)


def judge(client, repository, file):
    """Counts one model."""
    name = file.parent.name
    try:
        sets = list(data_of(file.parent, onnx.load(file)))
    except NoTensor as error:
        return report.refused(f"the protocol has no tensors of it: {error}", name)
    own = by_onnxruntime(file, sets)
    try:
        found = by_serving(client, repository, file, sets)
    except InferenceServerException as error:
        if own is None:
            return report.failed(name, error.message())
        return report.refused(f"refused here and by onnxruntime: {own}", name)
    if found is None:
        return report.right("right here" if own is None else "right here, and not by onnxruntime for Python")
    if own is None:
        return report.failed(name, found)
    return report.refused("other values than the suite's, of onnxruntime too", name)


files = iter(sorted(args.folder.glob("*/model.onnx")))
is_done = False
while not is_done:
    # A call that does not end keeps its thread busy, so a new server takes the rest.
    with tempfile.TemporaryDirectory() as repository, Server("models", repository, "--control", "explicit") as server:
        address = f"127.0.0.1:{server.port}"
        client = triton.InferenceServerClient(address, network_timeout=20, connection_timeout=20)
        is_done = True
        for file in files:
            try:
                judge(client, repository, file)
            except OSError as error:
                report.failed(file.parent.name, f"{type(error).__name__}: the call did not end within 20 seconds")
                is_done = False
                break
report.publish()
