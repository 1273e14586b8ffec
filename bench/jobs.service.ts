/** Served by `micro/jobs-http.ts`: a job that gives its text back. */
import { io, Service } from 'serving'

const svc = new Service('jobs')
const job = { retries: 1, concurrency: 64, maxQueued: 100_000 }

svc.api({ input: new io.Text(), output: new io.Text(), async: job }, function echo(text: string) {
  return text
})

export default svc
