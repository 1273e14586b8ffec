"""Iris by scikit-learn. A real model would be read from a file, as by joblib.load(path)."""

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression


class Model:
    def __init__(self, max_iter=200):
        iris = load_iris()
        self.names = iris.target_names
        self.classifier = LogisticRegression(max_iter=max_iter).fit(iris.data, iris.target)

    def predict(self, x):
        """Rows of measurements become rows of probabilities."""
        return self.classifier.predict_proba(x)

    def classify(self, x):
        return self.names[self.classifier.predict(x)]

    def describe(self):
        """What the Open Inference Protocol tells of the model, whose method is predict."""
        return {
            "platform": "sklearn",
            "inputs": [{"name": "measurements", "dtype": "float64", "shape": [-1, 4]}],
            "outputs": [{"name": "probabilities", "dtype": "float64", "shape": [-1, 3]}],
        }
