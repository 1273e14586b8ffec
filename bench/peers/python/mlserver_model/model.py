"""MLServer doing those of the benchmark's jobs that fit, by custom handlers: its own protocol has other bodies."""

import numpy as np
from mlserver import MLModel
from mlserver.handlers import custom_handler


class Bench(MLModel):
    async def load(self) -> bool:
        return True

    @custom_handler(rest_path="/ndarray")
    async def ndarray(self, rows: list[list[float]]) -> list[list[float]]:
        return np.asarray(rows).tolist()

    @custom_handler(rest_path="/json")
    async def json(self, value: dict) -> dict:
        return value
