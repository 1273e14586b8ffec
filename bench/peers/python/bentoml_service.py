"""BentoML doing the benchmark's jobs, with the descriptors of the same names."""

import numpy as np
from bentoml import Service
from bentoml.io import JSON, File, Image, Multipart, NumpyNdarray, PandasDataFrame, PandasSeries, Text
from PIL import Image as PILImage

import shapes

svc = Service("bench")
IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], "f4")
IMAGENET_STD = np.array([0.229, 0.224, 0.225], "f4")


def to_tensor(picture):
    """torchvision's Resize(224), CenterCrop(224), ToTensor and Normalize with Pillow and numpy."""
    picture = picture.convert("RGB")
    width, height = picture.size
    size = (int(224 * width / height), 224) if width > height else (224, int(224 * height / width))
    left, top = round((size[0] - 224) / 2), round((size[1] - 224) / 2)
    picture = picture.resize(size, PILImage.BILINEAR).crop((left, top, left + 224, top + 224))
    values = (np.asarray(picture, "f4") / 255 - IMAGENET_MEAN) / IMAGENET_STD
    return np.ascontiguousarray(values.transpose(2, 0, 1))


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


@svc.api(input=Image(), output=JSON())
def tensor(picture):
    return to_tensor(picture).mean(axis=(1, 2)).tolist()


@svc.api(input=Image(), output=JSON())
def classify(picture):
    return shapes.label_of(picture)


@svc.api(input=File(), output=File())
def file(value):
    return value


@svc.api(input=Multipart(arr=NumpyNdarray(), meta=JSON(), file=File()), output=JSON())
def form(arr, meta, file):
    return {"sum": float(arr.sum()), "x": meta["x"], "size": len(file.read())}
