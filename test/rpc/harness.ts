/** Servers and a small client for the tests of RPC. */
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { pino } from 'pino'
import { type Listener, type ServeOptions, type Service, serve } from 'serving'
import { decodeResponse, encodeRequest } from '../../src/messages/envelope.ts'
import type { ProtoContent } from '../../src/messages/messages.ts'

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

  constructor(
    port: number,
    service = 'serving.v1.ServingService',
    channel = credentials.createInsecure(),
  ) {
    this.#client = new Client(`127.0.0.1:${port}`, channel, {
      // The name in the certificate of the tests: TLS knows none for an address.
      'grpc.ssl_target_name_override': 'localhost',
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

  async stream(
    apiName: string,
    content: ProtoContent,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<ProtoContent[]> {
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
