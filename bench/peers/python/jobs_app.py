"""What a user would write for jobs with FastAPI and arq: a job gives its text back. Served by `jobs-http.ts`."""

import os
from contextlib import asynccontextmanager

from arq import create_pool
from arq.connections import RedisSettings
from arq.jobs import Job, JobStatus
from fastapi import FastAPI, Request, Response

settings = RedisSettings.from_dsn(os.environ["REDIS_URL"])


async def echo(ctx, text: str) -> str:
    return text


class WorkerSettings:
    functions = [echo]
    redis_settings = settings
    max_jobs = 64
    poll_delay = 0.05


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.pool = await create_pool(settings)
    yield


app = FastAPI(lifespan=lifespan)


@app.post("/echo", status_code=202)
async def submit(request: Request, response: Response):
    text = (await request.body()).decode()
    job = await request.app.state.pool.enqueue_job("echo", text)
    response.headers["location"] = f"/jobs/{job.job_id}"
    return {"id": job.job_id}


@app.get("/jobs/{job_id}")
async def status(job_id: str, request: Request):
    state = await Job(job_id, request.app.state.pool).status()
    return {"state": "completed" if state == JobStatus.complete else state}
