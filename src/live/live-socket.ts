/** The interface between live streams and the WebSockets of an engine. @module */

/** The WebSocket of one live stream, which an engine implements. After `closed`, nothing of it is called. */
export interface LiveSocket {
  /** Whether `send` has taken or copied the bytes when it returns. */
  readonly copies: boolean
  /** Sends a text message or a binary one. Returns false if `buffered` may be above 0 afterwards. */
  send(message: string | Uint8Array): boolean
  /** Bytes of messages that the kernel has not taken yet. */
  buffered(): number
  ping(): void
  /** Sends a close frame after the messages, then closes. `reason`: at most 123 bytes. */
  close(code: number, reason: string): void
  /** Closes without a frame, for a client that is gone. */
  terminate(): void
}

/** What an engine tells of the WebSocket. Its methods do not throw. */
export interface LiveListener {
  /** Called once, when the upgrade is done. */
  open(socket: LiveSocket): void
  /** A whole message, whose bytes may be used again after the call. A text is valid UTF-8. */
  message(bytes: Uint8Array, isText: boolean): void
  /** A ping or pong came. */
  heard(): void
  /** Less is buffered than before. */
  drained(): void
  /** Called once, at the end, also after `close` of the socket. */
  closed(): void
}
