/** The WebSocket of the platform, or that of a package, and its subprotocols. @module */
import { badArgument } from './serving-error.ts'
import type { ClientOptions, Secret } from './transport.ts'

/** The part of a WebSocket that live streams need. */
export interface WebSocketLike {
  binaryType: string
  send(data: string | ArrayBuffer): void
  close(code?: number): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void
}

/** Makes a WebSocket: `WebSocket` of the platform, or that of the package `ws`. */
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike

/** Opens a connection. The secrets are subprotocols: browsers let no headers be set. **Errors**: ServingError. */
export async function openWebSocket(url: string, { WebSocket: given, apiKey, token }: ClientOptions) {
  const Own = given ?? (globalThis as { readonly WebSocket?: WebSocketClass }).WebSocket
  if (Own === undefined) throw badArgument('the option WebSocket, such as that of the package ws,', 'live streams')
  const protocols = ['serving.v1']
  if (token !== undefined) protocols.push(`serving.bearer.${await encoded(token)}`)
  if (apiKey !== undefined) protocols.push(`serving.key.${await encoded(apiKey)}`)
  return new Own(url.replace(/^http/, 'ws'), protocols)
}

async function encoded(secret: Secret): Promise<string> {
  const bytes = new TextEncoder().encode(typeof secret === 'function' ? await secret() : secret)
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}
