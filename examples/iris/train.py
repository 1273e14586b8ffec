"""Trains the classifier of this example on Fisher's Iris data, as scikit-learn ships it, and writes model.json,
model.onnx and expected.json.

    pip install scikit-learn skl2onnx numpy
    python train.py

A multilayer perceptron with one hidden layer on standardised measurements. The standardisation is folded into the first
layer, so that whoever reads model.json needs two matrix products and nothing else. model.onnx holds the same weights.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SPLIT_SEED = 42
TRAIN_SEED = 0
HELD_OUT = 30
here = Path(__file__).parent

iris = load_iris()
# The service receives float32, so the model learns from float32 values, too; the arithmetic stays float64.
x = iris.data.astype(np.float32).astype(np.float64)
y = iris.target_names[iris.target]
x_train, x_held, y_train, y_held = train_test_split(
    x, y, test_size=HELD_OUT, random_state=SPLIT_SEED, stratify=y
)

scaler = StandardScaler()
mlp = MLPClassifier(
    hidden_layer_sizes=(8,), activation="relu", solver="lbfgs", alpha=0.1, max_iter=2000, random_state=TRAIN_SEED
)
classifier = make_pipeline(scaler, mlp).fit(x_train, y_train)
train_accuracy = classifier.score(x_train, y_train)
held_out_accuracy = classifier.score(x_held, y_held)
print(f"train accuracy    {train_accuracy:.4f} ({len(y_train)} flowers)")
print(f"held-out accuracy {held_out_accuracy:.4f} ({len(y_held)} flowers)")

# ((x - mean) / scale) @ w + b  ==  x @ (w / scale) + (b - (mean / scale) @ w)
weights = [mlp.coefs_[0] / scaler.scale_[:, None], mlp.coefs_[1]]
biases = [mlp.intercepts_[0] - (scaler.mean_ / scaler.scale_) @ mlp.coefs_[0], mlp.intercepts_[1]]

species = [str(name) for name in iris.target_names]
features = [name.removesuffix(" (cm)").replace(" ", "_") for name in iris.feature_names]
model = {
    "species": species,
    "features": features,
    "layers": [{"weights": w.tolist(), "bias": b.tolist()} for w, b in zip(weights, biases)],
    "averages_cm": {
        name: {feature: round(float(cm), 1) for feature, cm in zip(features, x_train[y_train == name].mean(axis=0))}
        for name in species
    },
    "sklearn": sklearn.__version__,
    "split_seed": SPLIT_SEED,
    "train_accuracy": train_accuracy,
    "held_out_accuracy": held_out_accuracy,
}
(here / "model.json").write_text(json.dumps(model, indent=1) + "\n")

# What scikit-learn itself answers for the flowers that the model has not seen: the tests compare the service with it.
predicted, probabilities = classifier.predict(x_held), classifier.predict_proba(x_held)
rows = [
    {
        "measurements_cm": [round(float(cm), 1) for cm in measured],
        "actual": str(actual),
        "predicted": str(guess),
        "probabilities": dict(zip(species, odds.tolist())),
    }
    for measured, actual, guess, odds in zip(x_held, y_held, predicted, probabilities)
]
lines = ",\n".join(json.dumps(row) for row in rows)
(here / "expected.json").write_text(f"[\n{lines}\n]\n")

# Last, since it changes the classifier: from here on it takes centimetres.
mlp.coefs_, mlp.intercepts_ = weights, biases
onnx_model = convert_sklearn(
    mlp,
    "iris",
    initial_types=[("measurements", FloatTensorType([None, 4]))],
    final_types=[("species", StringTensorType([None])), ("probabilities", FloatTensorType([None, 3]))],
    # Without zipmap the probabilities are one tensor instead of a list of dictionaries.
    options={"zipmap": False},
    target_opset=18,
)
(here / "model.onnx").write_bytes(onnx_model.SerializeToString())
