/**
 * Load over HTTP with a body of any bytes, which autocannon's command line reads as text: URL, file, connections and seconds in the
 * arguments.
 * @module
 */
import { readFileSync } from 'node:fs'
// It has no types of its own.
// @ts-expect-error TS7016
import autocannon from 'autocannon'

const [url, file, connections, duration] = process.argv.slice(2)
const {
  errors,
  non2xx,
  timeouts,
  requests,
  duration: seconds,
} = await autocannon({
  url,
  method: 'POST',
  body: readFileSync(file),
  connections: Number(connections),
  duration: Number(duration),
  headers: { 'content-type': 'application/proto', accept: 'application/x-flatbuffers' },
})
process.send?.({ requests: requests.total, seconds, errors: errors + non2xx + timeouts })
process.disconnect()
