/** The part of a WebSocket that live streams need. */
export interface WebSocketLike {
  binaryType: string
  send(data: string | ArrayBuffer): void
  close(code?: number): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
}

/** Makes a WebSocket: `WebSocket` of the platform, or that of the package `ws`. */
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike
