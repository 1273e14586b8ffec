import bentoml
from bentoml.io import NumpyNdarray

svc = bentoml.Service("scaler")


@svc.api(input=NumpyNdarray(dtype="float32", shape=(-1, 4), enforce_shape=True), output=NumpyNdarray())
def scale(x):
    return x * 2
