import type { LiveApi } from '../../api/live-api.ts'
import type { FormatDescription, JsonSchema } from '../../descriptors/description.ts'
import { subprotocol } from '../../live/framing.ts'
import { LiveCodec } from '../../live/live-codec.ts'
import { Components } from './components.ts'
import { contentOf } from './content.ts'
import { authOf, type DocumentSource } from './document.ts'
import { SecuritySchemes } from './security.ts'

const kind = (names: readonly string[], others: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties: { $: { enum: names }, ...others },
  required: ['$'],
})

const control = (summary: string, payload: JsonSchema) => ({
  contentType: 'application/json',
  summary,
  payload,
})

const controls = {
  clientControl: control('The end of the values, or a ping.', kind(['end', 'ping'])),
  serverControl: control(
    'An error (RFC 9457), room for more bytes, or the answer to a ping.',
    kind(['error', 'credit', 'pong'], { bytes: { type: 'integer' }, status: { type: 'integer' } }),
  ),
}

/**
 * @returns the live streams of a service.
 * @see AsyncAPI 3.0.0, WebSockets binding 0.1.0.
 */
export function asyncApiDocument(
  service: DocumentSource,
  prefix: string,
): Readonly<Record<string, unknown>> {
  const { name: title, doc, version = '0.0.0', lives } = service
  const components = new Components()
  const security = new SecuritySchemes()
  const channels: Record<string, object> = {}
  const operations: Record<string, object> = {}
  for (const api of lives.values()) {
    const channel = channelOf(api, components)
    channels[api.name] = channel
    const requirements = security.requirementsOf(authOf(api, service)).flatMap(Object.keys)
    const members = requirements.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))
    Object.assign(operations, operationsOf(api, Object.keys(channel.messages), members))
  }
  const schemes = Object.entries(security.schemes ?? {}).map(([name, scheme]) => {
    return [name, scheme.type === 'apiKey' ? { ...scheme, type: 'httpApiKey' } : scheme] as const
  })
  return {
    asyncapi: '3.0.0',
    info: { title, version, ...(doc !== undefined && { description: doc }) },
    defaultContentType: 'application/json',
    servers: {
      default: {
        host: '{host}',
        protocol: 'ws',
        ...(prefix !== '' && { pathname: prefix }),
        variables: {
          host: {
            default: 'localhost:3000',
            description: 'Host and port; over TLS the protocol is wss.',
          },
        },
      },
    },
    channels,
    operations,
    components: { schemas: components.schemas, securitySchemes: Object.fromEntries(schemes) },
  }
}

function channelOf(api: LiveApi, components: Components) {
  const { name, route, doc, input, output } = api
  const { textType, binaryType } = new LiveCodec(api)
  const inputs = input
    .describe()
    .input.filter(({ mimeType }) => mimeType === textType || mimeType === binaryType)
  const outputs = output.describe().output
  // As the server answers a client that does not say what it accepts.
  const [first] = [
    ...outputs.filter(({ mimeType }) => mimeType === 'application/x-npy'),
    ...outputs,
  ]
  const headers = {
    type: 'object',
    properties: { 'sec-websocket-protocol': { enum: [subprotocol] } },
  }
  const messages: Readonly<Record<string, object>> = {
    ...messagesOf('input', inputs, components, `${name}_request`),
    ...messagesOf('output', [first], components, `${name}_response`),
    ...controls,
  }
  return {
    address: `/${route}`,
    ...(doc !== undefined && { description: doc }),
    messages,
    bindings: { ws: { method: 'GET', headers, bindingVersion: '0.1.0' } },
  }
}

function messagesOf(
  key: string,
  formats: readonly FormatDescription[],
  components: Components,
  name: string,
) {
  const entries = Object.entries(contentOf(formats, components, name)).map(
    ([contentType, { schema }], i) => {
      return [
        i === 0 ? key : `${key}${i + 1}`,
        { name: key, contentType, payload: schema },
      ] as const
    },
  )
  return Object.fromEntries(entries)
}

function operationsOf({ name }: LiveApi, keys: readonly string[], security: readonly object[]) {
  const operation = (action: string, pattern: RegExp) => ({
    action,
    channel: { $ref: `#/channels/${name}` },
    messages: keys
      .filter((key) => pattern.test(key))
      .map((key) => ({ $ref: `#/channels/${name}/messages/${key}` })),
    ...(security.length > 0 && { security }),
  })
  return {
    [`${name}.receive`]: operation('receive', /^(input|client)/),
    [`${name}.send`]: operation('send', /^(output|server)/),
  }
}
