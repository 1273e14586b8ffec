"""Trains the model on scikit-learn's flowers, and writes model.joblib."""

import joblib
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

flowers = load_iris()
joblib.dump(LogisticRegression(max_iter=1000).fit(flowers.data, flowers.target), "model.joblib")
