/**
 * A process that serves an API with jobs of rows, for tests that kill it: `rows-server.ts STORE BLOBS LOG`. It tells
 * its parent its port. The function writes the begin and the end of each call to the log.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { io, Service, serve } from '../../src/index.ts'

const [store, blobs, log] = process.argv.slice(2)
process.once('disconnect', () => process.exit())
const svc = new Service('killed', { jobs: { store, blobs } })
const async = { rowsAtOnce: 4 }
svc.api({ input: new io.JSON(), output: new io.JSON(), name: 'work', async }, async (row) => {
  const { n, die } = row as { n: number; die?: boolean }
  if (die) process.kill(process.pid, 'SIGKILL')
  appendFileSync(log, `begin ${n}\n`)
  await sleep((n * 7) % 11)
  appendFileSync(log, `end ${n}\n`)
  return { n, text: 'x'.repeat(6_000) }
})
const { port } = await serve(svc, { port: 0, host: '127.0.0.1', logLevel: 'fatal' })
process.send?.({ port })
