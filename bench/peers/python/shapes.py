"""The network of examples/shapes with Pillow and onnxruntime, for the contenders in Python."""

import io
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

LABELS = ["circle", "cross", "square", "star", "triangle"]
MODEL = Path(__file__).parents[3] / "examples/shapes/models/shapes/1/model.onnx"

# One core is theirs.
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])


def label_of(picture):
    """The shape in a square picture, and the probability of each."""
    small = picture.convert("RGB").resize((32, 32), Image.BILINEAR)
    pixels = np.ascontiguousarray((np.asarray(small, "f4") / 255).transpose(2, 0, 1))[None]
    (odds,) = session.run(None, {session.get_inputs()[0].name: pixels})
    return {"shape": LABELS[int(odds.argmax())], "probabilities": dict(zip(LABELS, odds[0].tolist()))}


def label(body):
    """The same for the bytes of a file."""
    return label_of(Image.open(io.BytesIO(body)))


def labels(files):
    """The names of the shapes in an array of files, for Triton."""
    return np.array([label(body)["shape"] for body in files], object)
