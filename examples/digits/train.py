"""Trains the classifier of this example on scikit-learn's handwritten digits and writes model.onnx, expected.json and
held-out/.

    pip install scikit-learn skl2onnx numpy pillow
    python train.py

A multilayer perceptron with one hidden layer on 8 x 8 cells from 0 to 16. It learns from the cells as they are and from
pictures drawn of them, scaled, slanted, thinned, blurred and prepared again, since that is what the service will see.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
from PIL import Image
from pictures import FULL, draw, lay, prepare, random_picture
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

SPLIT_SEED = 42
TRAIN_SEED = 0
HELD_OUT = 360
PICTURES = 24
"""Pictures at random that are drawn of every digit to learn from."""
REPEATS = 6
"""How often every digit is learned from as it is, for each round of its pictures."""
here = Path(__file__).parent

cells, labels = load_digits(return_X_y=True)
cells = cells.astype(np.float32)
x_train, x_held, y_train, y_held = train_test_split(
    cells, labels, test_size=HELD_OUT, random_state=SPLIT_SEED, stratify=labels
)

rng = np.random.default_rng(TRAIN_SEED)


def plain_picture(digit):
    return lay(draw(digit, rng, wild=False), rng, 255.0, 0.0)


def drawn(digits, count, picture):
    return np.array([prepare(picture(digit)) for digit in digits for _ in range(count)])


drawings = [drawn(x_train, 4, plain_picture), drawn(x_train, PICTURES, lambda d: random_picture(d, rng))]
x = np.concatenate([x_train] * REPEATS + drawings)
y = np.concatenate([y_train] * REPEATS + [np.repeat(y_train, 4), np.repeat(y_train, PICTURES)])
# Chosen on 300 of the training digits: hidden units 96, 128, 160; alpha 0.01, 0.03, 0.1.
mlp = MLPClassifier((160,), alpha=0.03, learning_rate_init=1e-3, batch_size=256, max_iter=60, random_state=TRAIN_SEED)
mlp.fit(x / np.float32(FULL), y)
# (x / 16) @ w == x @ (w / 16), and exactly so: a power of two.
mlp.coefs_[0] = mlp.coefs_[0] / np.float32(FULL)


def report(name, inputs, wanted):
    accuracy = mlp.score(inputs, wanted)
    print(f"{name:42} {accuracy:.4f} ({round(accuracy * len(wanted))} of {len(wanted)})")
    return accuracy


train_accuracy = report("trained on, as they are", x_train, y_train)
held_out_accuracy = report("held out, as they are", x_held, y_held)
report("held out, as plain pictures, 3 of each", drawn(x_held, 3, plain_picture), np.repeat(y_held, 3))
at_random = drawn(x_held, 3, lambda d: random_picture(d, rng))
report("held out, as pictures at random, 3 of each", at_random, np.repeat(y_held, 3))

onnx_model = convert_sklearn(
    mlp,
    "digits",
    initial_types=[("cells", FloatTensorType([None, 64]))],
    final_types=[("digit", Int64TensorType([None])), ("probabilities", FloatTensorType([None, 10]))],
    # Without zipmap the probabilities are one tensor instead of a list of dictionaries.
    options={"zipmap": False},
    target_opset=18,
)
(here / "model.onnx").write_bytes(onnx_model.SerializeToString())


def answers(inputs):
    """scikit-learn's own answers, to 8 places: the tests compare the service with them."""
    odds = mlp.predict_proba(inputs)
    return [
        {"predicted": int(mlp.classes_[row.argmax()]), "probabilities": [round(float(p), 8) for p in row]}
        for row in odds
    ]


def write_rows(file, head, rows):
    lines = ",\n".join(json.dumps(row) for row in rows)
    file.write_text(f'{{\n{json.dumps(head)[1:-1]},\n"rows": [\n{lines}\n]\n}}\n')


write_rows(
    here / "expected.json",
    {"sklearn": sklearn.__version__, "train_accuracy": train_accuracy, "held_out_accuracy": held_out_accuracy},
    [
        {"cells": digit.astype(int).tolist(), "actual": int(actual), **answer}
        for digit, actual, answer in zip(x_held, y_held, answers(x_held))
    ],
)

# Pictures of held-out digits: the first four of each, never mind whether the model gets them right.
# (name, size of the ink, margins top right bottom left, paper, pen, noise)
LOOKS = [
    ("dark-on-light-28x28", (20, 20), (4, 4, 4, 4), 255, 0, 0),
    ("light-on-dark-28x28", (18, 22), (3, 5, 3, 5), 0, 255, 0),
    ("dark-on-light-100x140", (60, 84), (20, 25, 36, 15), 240, 30, 0),
    ("light-on-dark-140x100", (48, 64), (10, 12, 26, 80), 20, 225, 0),
    ("light-on-dark-8x8", (8, 8), (0, 0, 0, 0), 0, 255, 0),
    ("blue-on-cream-200x150-rgb", (90, 110), (20, 30, 20, 80), (250, 243, 224), (28, 44, 122), 0),
    ("white-on-green-64x64-rgb", (40, 48), (8, 12, 8, 12), (22, 78, 48), (244, 244, 240), 0),
    ("noisy-dark-on-grey-57x48", (33, 36), (6, 14, 6, 10), 190, 60, 4),
]
held = here / "held-out"
held.mkdir(exist_ok=True)
for old in held.glob("*.png"):
    old.unlink()
chosen = [i for digit in range(10) for i in np.flatnonzero(y_held == digit)[:4]]
names, inputs = [], []
for number, index in enumerate(chosen):
    name, size, margins, paper, pen, noise = LOOKS[number % len(LOOKS)]
    ink = draw(x_held[index], rng, size=size, filter=Image.NEAREST if size == (8, 8) else Image.BICUBIC, wild=False)
    channels = [
        lay(ink, rng, float(p), float(q), margins, noise) for p, q in zip(np.atleast_1d(paper), np.atleast_1d(pen))
    ]
    picture = Image.fromarray(channels[0] if len(channels) == 1 else np.stack(channels, axis=-1))
    names.append(f"{y_held[index]}-{name}-{number:02}.png")
    picture.save(held / names[-1], optimize=True)
    inputs.append(prepare(np.asarray(picture.convert("L"))))
wanted = y_held[chosen]
report("held out, the pictures in held-out/", np.array(inputs), wanted)
write_rows(
    held / "expected.json",
    {"sklearn": sklearn.__version__, "right": int((mlp.predict(np.array(inputs)) == wanted).sum())},
    [
        {"picture": name, "actual": int(actual), **answer}
        for name, actual, answer in zip(names, wanted, answers(np.array(inputs)))
    ],
)
