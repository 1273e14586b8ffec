"""Makes recurrent.onnx: a recurrent network (GRU) over int32 tokens of any length, where 0 pads. `scores` has a row
of 8 for each text.

    pip install onnx numpy
    python recurrent.py
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

vocabulary, width, hidden, labels = 256, 64, 256, 8
nodes, initializers = [], []


def constant(name, array):
    initializers.append(numpy_helper.from_array(np.asarray(array), name))
    return name


def weights(name, *shape):
    # Made when a session loads the file, so that it stays small.
    size = int(np.prod(shape))
    limits = [constant(f"{name}_{i}", np.float32(value)) for i, value in enumerate([0, size, 1])]
    node("Range", limits, f"{name}_range")
    node("Mul", [f"{name}_range", constant(f"{name}_step", np.float32(12.9898))], f"{name}_angles")
    node("Sin", f"{name}_angles", f"{name}_waves")
    node("Mul", [f"{name}_waves", constant(f"{name}_scale", np.float32(1 / np.sqrt(shape[-1])))], f"{name}_flat")
    return node("Reshape", [f"{name}_flat", constant(f"{name}_shape", np.array(shape, np.int64))], name)


def node(op, inputs, output, **attributes):
    names = [inputs] if isinstance(inputs, str) else inputs
    nodes.append(helper.make_node(op, names, [output], **attributes))
    return output


node("Equal", ["text", constant("zero", np.int32(0))], "is_pad")
node("Not", "is_pad", "is_text")
node("Cast", "is_text", "ones", to=T.INT32)
node("ReduceSum", ["ones", constant("second", np.array([1], np.int64))], "lengths", keepdims=0)
node("Gather", [weights("embedding", vocabulary, width), "text"], "rows_first")
node("Transpose", "rows_first", "steps_first", perm=[1, 0, 2])
nodes.append(
    helper.make_node(
        "GRU",
        [
            "steps_first",
            weights("input_weights", 1, 3 * hidden, width),
            weights("state_weights", 1, 3 * hidden, hidden),
            "",
            "lengths",
        ],
        ["", "states"],
        hidden_size=hidden,
    )
)
node("Squeeze", ["states", constant("first", np.array([0], np.int64))], "state")
node("MatMul", ["state", weights("head", hidden, labels)], "scores")
value = helper.make_tensor_value_info
graph = helper.make_graph(
    nodes,
    "recurrent",
    [value("text", T.INT32, ["rows", "length"])],
    [value("scores", T.FLOAT, ["rows", labels])],
    initializers,
)
# 22 and 10: what any onnxruntime since 2024 reads.
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
onnx.checker.check_model(model)
onnx.save(model, Path(__file__).parent / "recurrent.onnx")
