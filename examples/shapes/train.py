"""Trains the network of this example on drawings of five shapes, and writes model.onnx, held-out/ and expected.json.

    pip install numpy onnx pillow
    python examples/shapes/train.py   # some minutes; prints the accuracy

Three convolutions of stride 2 and a dense layer: 17,000 weights. Drawing, training and the split are seeded.
"""

import json
from pathlib import Path

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

LABELS = ["circle", "cross", "square", "star", "triangle"]
SIDE = 32
TRAINED, HELD_OUT = 6000, 1000
CHANNELS = [3, 16, 32, 32]
here = Path(__file__).parent
rng = np.random.default_rng(0)


def corners(radii, turn):
    angles = turn + np.arange(len(radii)) * 2 * np.pi / len(radii)
    return np.stack([np.cos(angles), np.sin(angles)], 1) * np.array(radii)[:, None]


def outline(label, turn):
    """The corners of a shape around the origin, at most 1 away from it."""
    if label == "cross":
        w = 0.3
        points = [(w, 1), (w, w), (1, w), (1, -w), (w, -w), (w, -1), (-w, -1), (-w, -w), (-1, -w), (-1, w), (-w, w)]
        points = np.array([*points, (-w, 1)]) * 0.95
        return points @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    radii = {"circle": [1] * 48, "square": [1] * 4, "star": [1, 0.42] * 5, "triangle": [1] * 3}
    return corners(radii[label], turn)


def draw(label, side):
    """A picture of one shape: any two colours that differ, any place, size and angle, some noise."""
    while True:
        paper, ink = rng.integers(0, 256, (2, 3))
        if abs(paper.mean() - ink.mean()) > 60:
            break
    radius = rng.uniform(0.28, 0.46)
    center = rng.uniform(radius, 1 - radius, 2)
    points = center + radius * outline(label, rng.uniform(0, 2 * np.pi))
    # Drawn at twice the size, for smooth edges.
    picture = Image.new("RGB", (side * 2, side * 2), tuple(map(int, paper)))
    ImageDraw.Draw(picture).polygon([tuple(p) for p in points * side * 2], fill=tuple(map(int, ink)))
    levels = np.asarray(picture.resize((side, side), Image.BILINEAR), float)
    noise = rng.normal(0, rng.uniform(0, 12), levels.shape)
    return Image.fromarray((levels + noise).clip(0, 255).astype(np.uint8))


def tensor(picture):
    """As `io.Image({ tensor: { size: [32, 32] } })` prepares a square picture."""
    small = picture.resize((SIDE, SIDE), Image.BILINEAR)
    return np.asarray(small, np.float32).transpose(2, 0, 1) / 255


def windows(x):
    """The 3 x 3 windows of a padded picture, every second one: (n, c, h, w) becomes (n, h / 2, w / 2, c * 9)."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    view = sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    n, c, h, w = view.shape[:4]
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def start():
    sizes = [(c * 9, d) for c, d in zip(CHANNELS, CHANNELS[1:])] + [(CHANNELS[-1] * (SIDE // 8) ** 2, len(LABELS))]
    weights = [rng.normal(0, np.sqrt(2 / fan_in), (fan_in, out)) for fan_in, out in sizes]
    return [part.astype(np.float32) for weight in weights for part in (weight, np.zeros(weight.shape[1]))]


def forward(params, x):
    """The probabilities, and what backward needs."""
    seen = []
    for layer in range(3):
        cut = windows(x)
        x = np.maximum(cut @ params[2 * layer] + params[2 * layer + 1], 0).transpose(0, 3, 1, 2)
        seen.append((cut, x))
    flat = x.reshape(len(x), -1)
    logits = flat @ params[6] + params[7]
    odds = np.exp(logits - logits.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True), flat, seen


def backward(params, x, y):
    odds, flat, seen = forward(params, x)
    d = (odds - np.eye(len(LABELS), dtype=np.float32)[y]) / len(x)
    grads = [flat.T @ d, d.sum(0)]
    d = (d @ params[6].T).reshape(seen[2][1].shape)
    for layer in (2, 1, 0):
        cut, out = seen[layer]
        d = (d * (out > 0)).transpose(0, 2, 3, 1)
        rows = d.reshape(-1, d.shape[-1])
        grads = [cut.reshape(len(rows), -1).T @ rows, rows.sum(0), *grads]
        if layer == 0:
            return grads
        n, h, w, _ = d.shape
        parts = (d @ params[2 * layer].T).reshape(n, h, w, CHANNELS[layer], 3, 3).transpose(0, 3, 1, 2, 4, 5)
        padded = np.zeros((n, CHANNELS[layer], h * 2 + 2, w * 2 + 2), np.float32)
        for i in range(3):
            for j in range(3):
                padded[:, :, i : i + h * 2 : 2, j : j + w * 2 : 2] += parts[..., i, j]
        d = padded[:, :, 1:-1, 1:-1]


def varied(x):
    """Turned and mirrored pictures, with channels in any order."""
    x = np.rot90(x, int(rng.integers(4)), (2, 3))[:, rng.permutation(3)]
    return x[..., ::-1] if rng.integers(2) else x


def train(x, y, epochs=30, batch=64):
    """Adam."""
    params = start()
    first, second = [[np.zeros_like(p) for p in params] for _ in range(2)]
    step = 0
    for epoch in range(epochs):
        rate = 2e-3 * (1 - epoch / epochs)
        order = rng.permutation(len(x))
        for begin in range(0, len(x), batch):
            step += 1
            rows = order[begin : begin + batch]
            for p, g, m, v in zip(params, backward(params, varied(x[rows]), y[rows]), first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return params


def export(params, path):
    nodes, constants, last = [], [], "pixels"
    for layer in range(3):
        kernel = params[2 * layer].T.reshape(CHANNELS[layer + 1], CHANNELS[layer], 3, 3)
        constants += [(f"w{layer}", kernel), (f"b{layer}", params[2 * layer + 1])]
        conv = dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        nodes += [helper.make_node("Conv", [last, f"w{layer}", f"b{layer}"], [f"c{layer}"], **conv)]
        nodes += [helper.make_node("Relu", [f"c{layer}"], [last := f"r{layer}"])]
    constants += [("w3", params[6]), ("b3", params[7])]
    nodes += [
        helper.make_node("Flatten", [last], ["flat"]),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "shapes",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["rows", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["rows", len(LABELS)])],
        [numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name) for name, value in constants],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString())


labels = rng.integers(0, len(LABELS), TRAINED + HELD_OUT)
x = np.array([tensor(draw(LABELS[label], int(rng.integers(32, 129)))) for label in labels])
params = train(x[:TRAINED], labels[:TRAINED])
for name, rows in [("trained on", slice(0, TRAINED)), ("held out", slice(TRAINED, None))]:
    print(name, (forward(params, x[rows])[0].argmax(1) == labels[rows]).mean())
export(params, here / "models/shapes/1/model.onnx")

(here / "held-out").mkdir(exist_ok=True)
expected = []
for label in LABELS * 2:
    side = int(rng.integers(40, 161))
    name = f"{label}-{side}.png"
    draw(label, side).save(here / "held-out" / name, optimize=True)
    odds = forward(params, tensor(Image.open(here / "held-out" / name))[None])[0][0]
    expected.append({"picture": name, "label": label, "probabilities": [round(float(p), 7) for p in odds]})
(here / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
