/** Serves an API that records large files into a folder, and calls it until it is killed. */
import { randomBytes } from 'node:crypto'
import { io, Service, serve } from '../../dist/index.js'

const capture = { rate: 1, to: `file:${process.argv[2]}`, maxMbPerSecond: 10_000 }
const svc = new Service('writing', { capture })
svc.api({ input: new io.File(), output: new io.Text() }, function big() {
  return 'done'
})
const { port } = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'silent' })
const headers = { 'content-type': 'application/octet-stream' }
for (;;) {
  const body = randomBytes(1_000_000)
  const answer = await fetch(`http://127.0.0.1:${port}/big`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  await answer.text()
}
