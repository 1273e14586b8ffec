/**
 * The limit of the engine on node:http: node:http taking the bytes and giving them back, with the headers that serving
 * gives to BENCH_PATH.
 * @module
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listening } from './listening.ts'

const headersOf: Readonly<Record<string, readonly string[]>> = {
  '/ndarray': ['content-type', 'application/json', 'vary', 'accept'],
  '/text': ['content-type', 'text/plain; charset=utf-8', 'x-content-type-options', 'nosniff'],
  '/file': ['content-type', 'application/octet-stream', 'x-content-type-options', 'nosniff'],
}

const server = createServer({ keepAliveTimeout: 65_000, noDelay: true }, (req, res) => {
  const pieces: Buffer[] = []
  req.on('data', (piece: Buffer) => pieces.push(piece))
  req.on('end', () => {
    const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
    res.writeHead(200, [...headersOf[req.url ?? ''], 'content-length', String(body.length)])
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port))
