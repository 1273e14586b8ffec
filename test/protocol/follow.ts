import {
  type Context,
  type Encoding,
  HeaderList,
  HttpRequest,
  io,
  type LiveRoute,
  type Protocol,
  ServingError,
  type Visit,
  wholeBody,
} from 'serving'

const json = new io.JSON()

/** A FileDescriptorProto of `follow.proto`, as `protoc --descriptor_set_out` writes it into its set. */
export const descriptor = Buffer.from(
  'Cgxmb2xsb3cucHJvdG8SCWZvbGxvdy52MSIUCgRUZXh0EgwKBGpzb24YASABKAkyOAoGTW9kZWxzEi4K' +
    'BkZvbGxvdxIPLmZvbGxvdy52MS5UZXh0Gg8uZm9sbG93LnYxLlRleHQoATABYgZwcm90bzM=',
  'base64',
)

/** A live stream over WebSocket and gRPC: each message names an API and has its input, each answer has the result. */
export const follow: Protocol = {
  name: 'follow',
  attach(host) {
    const route: LiveRoute = {
      name: 'follow',
      path: `${host.prefix}/v1/follow`,
      access: { kind: 'message' },
      origins: 'same',
      input: json,
      output: json,
      maxMessage: 1_000,
      maxBuffered: 10_000,
      idleTimeoutMs: 60_000,
      async *answer(messages, visit) {
        for await (const message of messages)
          yield await visit.apart((ctx) => run(message, visit, ctx))
      },
    }
    host.live(route)
    host.rpc({
      kind: 'live',
      path: '/follow.v1.Models/Follow',
      access: { kind: 'message' },
      files: [descriptor],
      open: async () => ({
        route,
        hasInput: true,
        decode: (message) => JSON.parse(Buffer.from(message).toString()),
        encode: (result) => Buffer.from(JSON.stringify(result)),
      }),
    })

    async function run(message: unknown, visit: Visit, ctx: Context): Promise<unknown> {
      const { model, input } = Object(message)
      try {
        const api = visit.find(host.service.apis, String(model), 'the model')
        const headers = HeaderList.from({ 'content-type': 'application/json' })
        const request = new HttpRequest(headers, Buffer.from(JSON.stringify(input ?? null)))
        return await visit.call(api, () => api.input.fromHttpRequest(request, ctx), told, ctx)
      } catch (error) {
        return { error: ServingError.is(error) ? error.code : 'internal' }
      }
    }
  },
}

const told: Encoding<Promise<unknown>> = {
  async encode({ output }, result, ctx) {
    const body = await wholeBody(await output.toHttpResponse(result, ctx))
    return { result: JSON.parse(Buffer.from(body).toString()) }
  },
  fail: async (error) => ({ error: error.code }),
}
