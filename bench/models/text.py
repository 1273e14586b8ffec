"""Makes text.onnx: a transformer of two layers over int32 tokens of any length, where 0 pads. `scores` has a row of 8
for each text, `tokens` one for each token.

    pip install onnx numpy
    python text.py
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

vocabulary, width, hidden, labels = 256, 64, 128, 8
random = np.random.default_rng(7)
nodes, initializers = [], []


def constant(name, array):
    initializers.append(numpy_helper.from_array(np.asarray(array), name))
    return name


def weights(name, *shape):
    # Halves the file: the session makes them float32 once.
    constant(f"{name}_16", (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float16))
    return node("Cast", f"{name}_16", name, to=T.FLOAT)


def node(op, inputs, output, **attributes):
    names = [inputs] if isinstance(inputs, str) else inputs
    nodes.append(helper.make_node(op, names, [output], **attributes))
    return output


constant("zero", np.int32(0))
constant("first", np.array([1], np.int64))
constant("last", np.array([2], np.int64))
constant("far", np.float32(1e9))
constant("scale", np.float32(1 / np.sqrt(width)))
node("Equal", ["text", "zero"], "is_pad")
node("Cast", "is_pad", "pad", to=T.FLOAT)
node("Not", "is_pad", "is_text")
node("Cast", "is_text", "text_mask", to=T.FLOAT)
node("Unsqueeze", ["text_mask", "last"], "mask")
node("Unsqueeze", ["pad", "first"], "pad_row")
node("Mul", ["pad_row", "far"], "penalty")
x = node("Gather", [weights("embedding", vocabulary, width), "text"], "x0")
for layer in range(2):
    at = f"l{layer}_"
    q, k, v = (node("MatMul", [x, weights(at + part + "_w", width, width)], at + part) for part in "qkv")
    node("Transpose", k, at + "kt", perm=[0, 2, 1])
    node("MatMul", [q, at + "kt"], at + "raw")
    node("Mul", [at + "raw", "scale"], at + "scaled")
    node("Sub", [at + "scaled", "penalty"], at + "logits")
    node("Softmax", at + "logits", at + "attention", axis=-1)
    node("MatMul", [at + "attention", v], at + "mixed")
    node("Add", [x, at + "mixed"], at + "residual")
    node("MatMul", [at + "residual", weights(at + "up_w", width, hidden)], at + "up")
    node("Relu", at + "up", at + "relu")
    node("MatMul", [at + "relu", weights(at + "down_w", hidden, width)], at + "down")
    x = node("Add", [at + "residual", at + "down"], at + "out")
node("MatMul", [x, weights("head", width, labels)], "tokens")
node("Mul", ["tokens", "mask"], "masked")
node("ReduceSum", ["masked", "first"], "sum", keepdims=0)
node("ReduceSum", ["mask", "first"], "count", keepdims=0)
node("Div", ["sum", "count"], "scores")
value = helper.make_tensor_value_info
graph = helper.make_graph(
    nodes,
    "text",
    [value("text", T.INT32, ["rows", "length"])],
    [value("scores", T.FLOAT, ["rows", labels]), value("tokens", T.FLOAT, ["rows", "length", labels])],
    initializers,
)
# 22 and 10: what any onnxruntime since 2024 reads.
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
onnx.checker.check_model(model)
onnx.save(model, Path(__file__).parent / "text.onnx")
