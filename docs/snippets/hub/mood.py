"""The same folder by the transformers of Python. The file imports nothing of serving."""

from pathlib import Path

from transformers import pipeline


class Model:
    def __init__(self, folder):
        path = str(Path(__file__).parent / folder)
        self.classifier = pipeline("text-classification", model=path)

    def classify(self, texts):
        return self.classifier(texts)
