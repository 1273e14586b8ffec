"""MLServer doing those of the benchmark's jobs that fit: its own protocol, and others by custom handlers."""

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.handlers import custom_handler
from mlserver.types import InferenceRequest, InferenceResponse


class Bench(MLModel):
    async def load(self) -> bool:
        return True

    @custom_handler(rest_path="/ndarray")
    async def ndarray(self, rows: list[list[float]]) -> list[list[float]]:
        return np.asarray(rows).tolist()

    @custom_handler(rest_path="/json")
    async def json(self, value: dict) -> dict:
        return value


class Identity(MLModel):
    """A model of its own protocol: the input as a numpy array, given back."""

    async def load(self) -> bool:
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        array = NumpyCodec.decode_input(payload.inputs[0])
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("output", array)])
