"""Trains the model of both benchmarks on iris: model.joblib for scikit-learn and model.onnx of the same machine, whose
input is called input-0 as in MLServer's benchmark. bench/public/install.sh runs it."""

from pathlib import Path

import joblib
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_iris
from sklearn.svm import SVC

folder = Path(__file__).parents[2] / ".venv/iris"
folder.mkdir(parents=True, exist_ok=True)
features, species = load_iris(return_X_y=True)
model = SVC(gamma="scale").fit(features, species)
joblib.dump(model, folder / "model.joblib")
types = [("input-0", FloatTensorType([None, 4]))]
(folder / "model.onnx").write_bytes(to_onnx(model, initial_types=types).SerializeToString())
