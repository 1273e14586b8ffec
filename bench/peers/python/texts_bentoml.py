"""BentoML with adaptive batching, whose bounds BENCH_BATCH and BENCH_WAIT_MS set."""

import os

import bentoml
from texts import Texts


@bentoml.service(workers=1, traffic={"timeout": 60}, logging={"access": {"enabled": False}})
class Service:
    def __init__(self):
        self.texts = Texts()

    @bentoml.api(
        batchable=True,
        max_batch_size=int(os.environ["BENCH_BATCH"]),
        max_latency_ms=int(os.environ["BENCH_WAIT_MS"]),
    )
    def predict(self, texts: list[list[int]]) -> list[list[float]]:
        return self.texts.scores(texts).tolist()
