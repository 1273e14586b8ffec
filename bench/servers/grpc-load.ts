/**
 * Load over gRPC: port, file of the request and seconds in the arguments; 64 calls at a time over 4 connections.
 * @module
 */
import { readFileSync } from 'node:fs'
import { Client, credentials } from '@grpc/grpc-js'

const [port, file, seconds] = process.argv.slice(2)
const body = readFileSync(file)
const asIs = (bytes: Buffer) => bytes
const options = { 'grpc.use_local_subchannel_pool': 1, 'grpc.max_receive_message_length': -1 }
const clients = Array.from({ length: 4 }, () => new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options))
let requests = 0
const startMs = performance.now()
const endMs = startMs + Number(seconds) * 1000

function call(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest('/serving.v1.ServingService/Call', asIs, asIs, body, (error, answer) => {
      if (error !== null || answer === undefined || answer.length === 0) return reject(error)
      requests++
      resolve()
    })
  })
}

async function run(client: Client): Promise<void> {
  while (performance.now() < endMs) await call(client)
}

await Promise.all(Array.from({ length: 64 }, (_, i) => run(clients[i % clients.length])))
process.send?.({ requests, seconds: (performance.now() - startMs) / 1000 })
for (const client of clients) client.close()
process.disconnect()
