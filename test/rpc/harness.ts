/** A service of every descriptor behind gRPC and Connect, and small clients for both. */
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { pino } from 'pino'
import { io, type Listener, NDArray, type ServeOptions, Service, serve } from 'serving'
import { decodeResponse, encodeRequest } from '../../src/wire/proto.ts'
import type { ProtoContent } from '../../src/wire/proto-messages.ts'

export const silent = pino({ level: 'silent' })

/** Starts a service on free ports. */
export async function start(service: Service, options: ServeOptions = {}): Promise<Listener> {
  return serve(service, { port: 0, host: '127.0.0.1', grpcPort: 0, logger: silent, ...options })
}

const asIs = (bytes: Buffer) => bytes

/** What a call came to. */
export interface GrpcAnswer {
  readonly content?: ProtoContent
  readonly error?: ServiceError
  readonly metadata?: Metadata
}

/** A gRPC client over bytes. */
export class GrpcClient {
  readonly #client: Client
  readonly #service: string

  constructor(port: number, service = 'serving.v1.ServingService') {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
    })
    this.#service = service
  }

  raw(
    bytes: Uint8Array,
    options: { metadata?: Record<string, string>; deadline?: number; signal?: AbortSignal } = {},
    method = 'Call',
  ): Promise<{ bytes?: Buffer; error?: ServiceError; metadata?: Metadata }> {
    const metadata = new Metadata()
    for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value)
    return new Promise((resolve) => {
      let received: Metadata | undefined
      const call = this.#client.makeUnaryRequest(
        `/${this.#service}/${method}`,
        asIs,
        asIs,
        Buffer.from(bytes),
        metadata,
        options.deadline === undefined ? {} : { deadline: Date.now() + options.deadline },
        (error, answer) =>
          resolve({
            ...(error === null ? {} : { error }),
            ...(answer === undefined ? {} : { bytes: answer }),
            ...(received && { metadata: received }),
          }),
      )
      call.on('metadata', (got) => {
        received = got
      })
      options.signal?.addEventListener('abort', () => call.cancel())
    })
  }

  async call(
    apiName: string,
    content?: ProtoContent,
    options: Parameters<GrpcClient['raw']>[1] = {},
  ): Promise<GrpcAnswer> {
    const { bytes, ...rest } = await this.raw(encodeRequest(apiName, content), options)
    const answer = bytes === undefined ? undefined : decodeResponse(bytes)
    return { ...rest, ...(answer && { content: answer }) }
  }

  async stream(apiName: string, content: ProtoContent, limit = Number.POSITIVE_INFINITY): Promise<ProtoContent[]> {
    const call = this.#client.makeServerStreamRequest(
      `/${this.#service}/CallStream`,
      asIs,
      asIs,
      encodeRequest(apiName, content),
    )
    const contents: ProtoContent[] = []
    for await (const bytes of call) {
      contents.push(decodeResponse(bytes) as ProtoContent)
      if (contents.length >= limit) {
        call.cancel()
        break
      }
    }
    return contents
  }

  close(): void {
    this.#client.close()
  }
}

/** Every descriptor, as an echo of its name. */
export function echoService(): Service {
  const svc = new Service('echo', { doc: 'Echoes.' })
  const same = <T>(value: T) => value
  svc.api({ name: 'ndarray', input: new io.NumpyNdarray(), output: new io.NumpyNdarray(), doc: 'An array.' }, same)
  svc.api({ name: 'floats', input: new io.NumpyNdarray({ dtype: 'float32' }), output: new io.NumpyNdarray() }, same)
  svc.api(
    {
      name: 'pairs',
      input: new io.NumpyNdarray({ dtype: 'int32', enforceDtype: true, shape: [-1, 2], enforceShape: true }),
      output: new io.NumpyNdarray(),
    },
    same,
  )
  svc.api({ name: 'json', input: new io.JSON(), output: new io.JSON() }, same)
  svc.api({ name: 'text', input: new io.Text(), output: new io.Text() }, same)
  svc.api({ name: 'file', input: new io.File(), output: new io.File() }, same)
  svc.api({ name: 'pdf', input: new io.File({ mimeType: 'application/pdf' }), output: new io.File() }, same)
  svc.api({ name: 'image', input: new io.Image(), output: new io.Image({ mimeType: 'image/png' }) }, same)
  svc.api({ name: 'frame', input: new io.PandasDataFrame(), output: new io.PandasDataFrame() }, same)
  svc.api({ name: 'series', input: new io.PandasSeries(), output: new io.PandasSeries() }, same)
  const form = () => new io.Multipart({ a: new io.Text(), j: new io.JSON(), n: new io.NumpyNdarray() })
  svc.api({ name: 'form', input: form(), output: form() }, (parts) => parts)
  svc.api({ name: 'form_async', input: form(), output: form() }, async (parts) => parts)
  svc.api({ name: 'words', input: new io.Text(), output: new io.Text() }, async function* (text: string) {
    yield* text.split(' ')
  })
  svc.api({ name: 'zeros', input: new io.JSON(), output: new io.NumpyNdarray() }, () => new NDArray(new Int8Array(3)))
  return svc
}
