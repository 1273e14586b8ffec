"""FastAPI doing the benchmark's jobs with numpy, pandas and Pillow, as its users write them."""

import io
import json as jsonlib

import numpy as np
import pandas as pd
from fastapi import Body, FastAPI, File, Form, Request, Response, UploadFile, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse, StreamingResponse
from PIL import Image

import shapes

app = FastAPI()
octets = "application/octet-stream"
IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], "f4")
IMAGENET_STD = np.array([0.229, 0.224, 0.225], "f4")


def to_tensor(picture):
    """torchvision's Resize(224), CenterCrop(224), ToTensor and Normalize with Pillow and numpy."""
    picture = picture.convert("RGB")
    width, height = picture.size
    size = (int(224 * width / height), 224) if width > height else (224, int(224 * height / width))
    left, top = round((size[0] - 224) / 2), round((size[1] - 224) / 2)
    picture = picture.resize(size, Image.BILINEAR).crop((left, top, left + 224, top + 224))
    values = (np.asarray(picture, "f4") / 255 - IMAGENET_MEAN) / IMAGENET_STD
    return np.ascontiguousarray(values.transpose(2, 0, 1))


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


@app.post("/tensor")
async def tensor(request: Request):
    picture = Image.open(io.BytesIO(await request.body()))
    return to_tensor(picture).mean(axis=(1, 2)).tolist()


@app.post("/classify")
async def classify(request: Request):
    return shapes.label(await request.body())


@app.post("/file")
async def file(request: Request):
    return Response(await request.body(), media_type=octets)


@app.post("/form")
async def form(arr: str = Form(), meta: str = Form(), file: UploadFile = File()):
    numbers = np.asarray(jsonlib.loads(arr))
    return {"sum": float(numbers.sum()), "x": jsonlib.loads(meta)["x"], "size": len(await file.read())}


async def answer_each(socket: WebSocket, answer):
    await socket.accept()
    try:
        while True:
            await answer()
    except WebSocketDisconnect:
        pass


@app.websocket("/live_text")
async def live_text(socket: WebSocket):
    async def answer():
        await socket.send_text(await socket.receive_text())

    await answer_each(socket, answer)


@app.websocket("/live_pieces")
async def live_pieces(socket: WebSocket):
    async def answer():
        piece = await socket.receive_text()
        for _ in range(100):
            await socket.send_text(piece)

    await answer_each(socket, answer)


@app.websocket("/live_floats")
async def live_floats(socket: WebSocket):
    async def answer():
        array = np.load(io.BytesIO(await socket.receive_bytes()))
        out = io.BytesIO()
        np.save(out, array)
        await socket.send_bytes(out.getvalue())

    await answer_each(socket, answer)
