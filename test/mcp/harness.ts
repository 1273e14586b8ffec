/** Services with `mcp`, the clients of its SDK, and single messages of its latest version. @module */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type ServeOptions, type Service, serve } from 'serving'
import { onTestFinished } from 'vitest'
import { silentLogger } from '../../src/engine/log.ts'
import { latest } from '../../src/protocols/mcp/messages.ts'

const key = (name: string) => `io.modelcontextprotocol/${name}`

/** What a client of the latest version says with each request. */
export const meta = {
  [key('protocolVersion')]: latest,
  [key('clientInfo')]: { name: 'test', version: '1' },
  [key('clientCapabilities')]: { extensions: { [key('tasks')]: {} } },
}

/** An answer of `/mcp` to one message. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON of any form
  readonly value: any
}

/** Serves on a free port until the test is over. */
export async function open(svc: Service, options: ServeOptions = {}) {
  const logger = silentLogger(() => {})
  const listener = await serve(svc, { port: 0, host: '127.0.0.1', logger, ...options })
  onTestFinished(() => listener.close())
  const url = new URL(`http://127.0.0.1:${listener.port}/mcp`)
  return { listener, url, ...clientsOf(url) }
}

/** Clients of an address. */
export function clientsOf(url: URL) {
  return {
    /** `version`: the latest one without. */
    async client(headers: Record<string, string> = {}, version = latest): Promise<Client> {
      const mode = version === latest ? { pin: latest } : ('legacy' as const)
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
      onTestFinished(() => client.close())
      return client
    },
    /** Sends one request of the latest version; a header that is empty is left out. */
    async post(
      method: string,
      params: Readonly<Record<string, unknown>> = {},
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer> {
      const name = params.name ?? params.uri ?? params.taskId
      const sent = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': latest,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...headers,
      }
      const answer = await fetch(url, {
        method: 'POST',
        headers: Object.entries(sent).filter(([, value]) => value !== ''),
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: meta, ...params } }),
      })
      const text = await answer.text()
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
      const data = isStream ? text.match(/(?<=^data: ).*/gm)?.at(-1) : text
      return { status: answer.status, value: data ? JSON.parse(data) : undefined }
    },
  }
}
