"""The scikit-learn model behind a Runner of serving."""

import joblib


class Model:
    def __init__(self, file: str):
        self.model = joblib.load(file)

    def predict(self, rows):
        return self.model.predict(rows)
