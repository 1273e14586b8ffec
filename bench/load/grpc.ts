/**
 * Load over gRPC by grpc-js's client: unary calls whose messages are bytes.
 * @module
 */
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { Sender } from './load.ts'

const asIs = (bytes: Buffer) => bytes
/** HTTP/2 connections, shared by the concurrent calls. */
const channels = 4
const options = {
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
}

function metadataOf(headers: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}

/** Returns the answer to one call of a `grpc:` URL. */
export function callByGrpc(
  url: string,
  body: Buffer,
  headers?: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const { host, pathname } = new URL(url)
  const client = new Client(host, credentials.createInsecure(), options)
  return new Promise<Buffer>((resolve, reject) => {
    client.makeUnaryRequest(pathname, asIs, asIs, body, metadataOf(headers), (error, answer) =>
      answer === undefined ? reject(error) : resolve(answer),
    )
  }).finally(() => client.close())
}

/** Makes as many concurrent calls as the request has connections. */
export const sendByGrpc: Sender = async (
  { url, headers, connections, seconds, amount = Infinity },
  body,
  answered,
) => {
  const { host, pathname } = new URL(url)
  const metadata = metadataOf(headers)
  const clients = Array.from(
    { length: channels },
    () => new Client(host, credentials.createInsecure(), options),
  )
  const endMs = amount === Infinity ? performance.now() + seconds * 1000 : Infinity
  let sent = 0
  let requests = 0
  let errors = 0
  const call = (client: Client) =>
    new Promise<void>((resolve) => {
      const startMs = performance.now()
      client.makeUnaryRequest(pathname, asIs, asIs, body, metadata, (error, answer) => {
        if (error !== null || answer === undefined) errors++
        else requests++
        answered(performance.now() - startMs)
        resolve()
      })
    })
  async function run(client: Client): Promise<void> {
    while (sent < amount && performance.now() < endMs) {
      sent++
      await call(client)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, i) => run(clients[i % channels])))
  for (const client of clients) client.close()
  return { requests, errors }
}
