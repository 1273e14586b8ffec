"""BentoML doing the benchmark's jobs, with the descriptors of the same names."""

import numpy as np
from bentoml import Service
from bentoml.io import JSON, File, Image, Multipart, NumpyNdarray, PandasDataFrame, PandasSeries, Text

svc = Service("bench")


@svc.api(input=NumpyNdarray(), output=NumpyNdarray())
def ndarray(x):
    return x


@svc.api(input=PandasDataFrame(), output=PandasDataFrame())
def frame(df):
    return df


@svc.api(input=PandasDataFrame(default_format="csv"), output=PandasDataFrame(default_format="csv"))
def csv(df):
    return df


@svc.api(input=PandasDataFrame(default_format="parquet"), output=PandasDataFrame(default_format="parquet"))
def parquet(df):
    return df


@svc.api(input=PandasSeries(), output=PandasSeries())
def series(values):
    return values


@svc.api(input=JSON(), output=JSON())
def json(value):
    return value


@svc.api(input=Text(), output=Text())
def text(value):
    return value


@svc.api(input=Text(), output=Text())
async def stream(value):
    for _ in range(100):
        yield value


@svc.api(input=Image(), output=JSON())
def mean(picture):
    return float(np.asarray(picture).mean())


@svc.api(input=File(), output=File())
def file(value):
    return value


@svc.api(input=Multipart(arr=NumpyNdarray(), meta=JSON(), file=File()), output=JSON())
def form(arr, meta, file):
    return {"sum": float(arr.sum()), "x": meta["x"], "size": len(file.read())}
