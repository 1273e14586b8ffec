"""A class Model, or functions. The file imports nothing of serving."""

import joblib


class Model:
    def __init__(self, path):
        self.model = joblib.load(path)

    def predict(self, x):
        return self.model.predict_proba(x)
