/** A service of a .proto file of one's own, over gRPC and HTTP. */
import { fileURLToPath } from 'node:url'
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import protobuf from 'protobufjs-8'
import { Service, serve } from 'serving'
import { expect, it, onTestFinished } from 'vitest'
import { grpcService } from '../../examples/greeter/grpc-service.ts'
import svc from '../../examples/greeter/service.ts'

const proto = fileURLToPath(new URL('../../examples/greeter/greeter.proto', import.meta.url))
const path = '/greeter.Greeter/SayHello'
const stock = protobuf.loadSync(proto)
const Person = stock.lookupType('greeter.Person')
const Greeting = stock.lookupType('greeter.Greeting')
const person = { name: 'Ada', titles: ['Countess'] }

async function start(maxMemoryBytes = 64 * 1024 * 1024) {
  const options = { host: '127.0.0.1', port: 0, grpcPort: 0, maxMemoryBytes } as const
  const listener = await serve(svc, { ...options, logLevel: 'silent' })
  onTestFinished(() => listener.close())
  const client = new Client(`127.0.0.1:${listener.grpcPort}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const call = (message: Uint8Array) =>
    new Promise<Buffer>((resolve, reject) => {
      const asIs = (bytes: Buffer) => bytes
      const done = (error: ServiceError | null, answer?: Buffer) =>
        error === null ? resolve(answer as Buffer) : reject(error)
      client.makeUnaryRequest(path, asIs, asIs, Buffer.from(message), done)
    })
  return { port: listener.port, call }
}

it('answers the messages of its .proto, and the same API over HTTP', async () => {
  const { port, call } = await start()
  const answer = await call(Person.encode(person).finish())
  expect(Greeting.decode(answer)).toMatchObject({ text: 'Hello, Countess Ada!' })
  expect(Greeting.decode(await call(new Uint8Array()))).toMatchObject({ text: 'Hello, !' })
  const http = await fetch(`http://127.0.0.1:${port}/SayHello`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(person),
  })
  expect(await http.json()).toEqual({ text: 'Hello, Countess Ada!' })
})

it('refuses bytes that are no message, and answers the next call', async () => {
  const { call } = await start()
  await expect(call(Buffer.from([0x7f]))).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  })
  expect(Greeting.decode(await call(Person.encode(person).finish()))).toMatchObject({
    text: 'Hello, Countess Ada!',
  })
})

it('refuses a message that would take more memory than there is', async () => {
  const { call } = await start(1024 * 1024)
  const titles = new Array<string>(50_000).fill('')
  await expect(call(Person.encode({ titles }).finish())).rejects.toMatchObject({
    code: status.UNAVAILABLE,
  })
})

it('does not start without an API for a method', async () => {
  const greeter = loadSync(proto)['greeter.Greeter'] as ServiceDefinition
  const empty = new Service('empty', { protocols: [grpcService(greeter)] })
  await expect(serve(empty, { port: 0, logLevel: 'silent' })).rejects.toThrow(
    `expected an API SayHello for ${path}`,
  )
})
