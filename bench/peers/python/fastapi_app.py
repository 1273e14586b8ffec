"""FastAPI doing the benchmark's jobs with numpy, pandas and Pillow, as its users write them."""

import io
import json as jsonlib

import numpy as np
import pandas as pd
from fastapi import Body, FastAPI, File, Form, Request, Response, UploadFile
from fastapi.responses import JSONResponse, StreamingResponse
from PIL import Image

app = FastAPI()
octets = "application/octet-stream"


@app.post("/ndarray")
async def ndarray(rows: list[list[float]] = Body()):
    return JSONResponse(np.asarray(rows).tolist())


@app.post("/first")
async def first(request: Request):
    array = np.load(io.BytesIO(await request.body()))
    out = io.BytesIO()
    np.save(out, array.reshape(-1)[:1000])
    return Response(out.getvalue(), media_type="application/x-npy")


@app.post("/frame")
async def frame(request: Request):
    df = pd.DataFrame.from_records(await request.json())
    return Response(df.to_json(orient="records", double_precision=15), media_type="application/json")


@app.post("/csv")
async def csv(request: Request):
    df = pd.read_csv(io.BytesIO(await request.body()))
    return Response(df.to_csv(index=False), media_type="text/csv")


@app.post("/parquet")
async def parquet(request: Request):
    df = pd.read_parquet(io.BytesIO(await request.body()))
    return Response(df.to_parquet(index=False), media_type=octets)


@app.post("/series")
async def series(request: Request):
    return JSONResponse(pd.Series(await request.json()).tolist())


@app.post("/json")
async def json(value: dict | list = Body()):
    return JSONResponse(value)


@app.post("/text")
async def text(request: Request):
    return Response((await request.body()).decode(), media_type="text/plain")


@app.post("/stream")
async def stream(request: Request):
    piece = (await request.body()).decode()

    async def pieces():
        for _ in range(100):
            yield piece

    return StreamingResponse(pieces(), media_type="text/plain")


@app.post("/mean")
async def mean(request: Request):
    picture = Image.open(io.BytesIO(await request.body()))
    return float(np.asarray(picture).mean())


@app.post("/file")
async def file(request: Request):
    return Response(await request.body(), media_type=octets)


@app.post("/form")
async def form(arr: str = Form(), meta: str = Form(), file: UploadFile = File()):
    numbers = np.asarray(jsonlib.loads(arr))
    return {"sum": float(numbers.sum()), "x": jsonlib.loads(meta)["x"], "size": len(await file.read())}
