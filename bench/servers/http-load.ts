/**
 * Load over HTTP with a body of any bytes: URL, file, connections and seconds in the arguments. By autocannon's API, since its command
 * line reads files as text; by plain sockets for large bodies, at which autocannon is slower than any server.
 * @module
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
// It has no types of its own.
// @ts-expect-error TS7016
import autocannon from 'autocannon'

const [url, file, connections, duration] = process.argv.slice(2)
const body = readFileSync(file)
const headers = { 'content-type': 'application/proto', accept: 'application/x-flatbuffers' }

/** Sends the request again and again over one connection, and counts the bytes that come back. */
function flood(untilMs: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n`
  const request = Buffer.concat([Buffer.from(head), body])
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request))
    let answers = 0
    let missing = -1
    socket.on('error', reject)
    socket.on('data', (piece) => {
      if (missing === -1) {
        // The head comes in one piece: the server writes it at once.
        const end = piece.indexOf('\r\n\r\n')
        const text = piece.toString('latin1', 0, end)
        if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text))
        missing = Number(/content-length: (\d+)/i.exec(text)?.[1]) + end + 4
      }
      missing -= piece.length
      if (missing > 0) return
      missing = -1
      answers++
      if (performance.now() < untilMs) socket.write(request)
      else {
        socket.destroy()
        resolve(answers)
      }
    })
  })
}

if (body.length > 100_000) {
  const startMs = performance.now()
  const until = startMs + Number(duration) * 1000
  const counts = await Promise.all(Array.from({ length: Number(connections) }, () => flood(until)))
  const seconds = (performance.now() - startMs) / 1000
  process.send?.({ requests: counts.reduce((sum, count) => sum + count, 0), seconds, errors: 0 })
} else {
  const options = { url, method: 'POST', body, connections: Number(connections), duration: Number(duration), headers }
  const result = await autocannon(options)
  const errors = result.errors + result.non2xx + result.timeouts
  process.send?.({ requests: result.requests.total, seconds: result.duration, errors })
}
process.disconnect()
