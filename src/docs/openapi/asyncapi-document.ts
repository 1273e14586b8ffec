import type { LiveRoute } from '../../api/live-route.ts'
import type { FormatDescription, JsonSchema } from '../../descriptors/description.ts'
import { subprotocol } from '../../live/framing.ts'
import { LiveCodec } from '../../live/live-codec.ts'
import { Components } from './components.ts'
import { contentOf } from './content.ts'
import { authOf, type DocumentSource, liveOf } from './document.ts'
import { pathBelow } from './protocol-paths.ts'
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
 * `routes`: those of the service, and of its protocols.
 *
 * @returns the live streams of a service.
 * @see AsyncAPI 3.0.0, WebSockets binding 0.1.0.
 */
export function asyncApiDocument(
  service: DocumentSource,
  prefix: string,
  routes: readonly LiveRoute[],
): Readonly<Record<string, unknown>> {
  const { name: title, doc, version = '0.0.0' } = service
  const components = new Components()
  const security = new SecuritySchemes()
  const channels: Record<string, object> = {}
  const operations: Record<string, object> = {}
  for (const route of routes) {
    let key = route.name
    while (key in channels) key += '_'
    const channel = channelOf(route, prefix, components, key)
    channels[key] = channel
    const auth = authOf(liveOf(route, service), service)
    const requirements = security.requirementsOf(auth).flatMap(Object.keys)
    const members = requirements.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }))
    Object.assign(operations, operationsOf(key, Object.keys(channel.messages), members))
  }
  const schemes = Object.entries(security.schemes ?? {}).map(([name, scheme]) => {
    return [name, scheme.type === 'apiKey' ? { ...scheme, type: 'httpApiKey' } : scheme] as const
  })
  return {
    asyncapi: '3.0.0',
    info: { title, version, description: doc },
    defaultContentType: 'application/json',
    servers: {
      default: { ...server, pathname: prefix || undefined },
      ...(prefix !== '' && { root: server }),
    },
    channels,
    operations,
    components: { schemas: components.schemas, securitySchemes: Object.fromEntries(schemes) },
  }
}

const server = {
  host: '{host}',
  protocol: 'ws',
  variables: {
    host: {
      default: 'localhost:3000',
      description: 'Host and port; over TLS the protocol is wss.',
    },
  },
}

function channelOf(route: LiveRoute, prefix: string, components: Components, name: string) {
  const { path, doc, input, output } = route
  const { textType, binaryType } = new LiveCodec(route)
  const below = pathBelow(prefix, path)
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
    address: below ?? path,
    ...(prefix !== '' && { servers: [{ $ref: `#/servers/${below ? 'default' : 'root'}` }] }),
    description: doc,
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

function operationsOf(name: string, keys: readonly string[], security: readonly object[]) {
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
