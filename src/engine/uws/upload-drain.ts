/**
 * Answers requests whose bodies are refused, on uWebSockets.js.
 * @module
 */
import type { HttpResponse } from '../../http/message.ts'
import { BodyRest } from '../body-rest.ts'
import { statusLine } from '../head.ts'

/** The part of a native response that is needed here. */
export interface DrainedResponse {
  writeStatus(status: string): unknown
  onAborted(handler: () => void): unknown
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): unknown
  close(): unknown
}

/**
 * Answers a request whose body is still coming: sends the answer at once, reads and drops the body within bounds, and
 * closes the connection.
 */
export class UploadDrain {
  readonly #res: DrainedResponse
  readonly #response: HttpResponse
  readonly #timeMs: number | undefined
  #rest: BodyRest | undefined
  #over = false

  /** The body of `response` must be a string. `timeMs`: how long the rest of the body is read. */
  constructor(res: DrainedResponse, response: HttpResponse, timeMs?: number) {
    this.#res = res
    this.#response = response
    this.#timeMs = timeMs
  }

  /** Starts, for a response that has no handlers yet. */
  start(isHead: boolean): void {
    this.#res.onAborted(() => this.aborted())
    this.#res.onData((chunk, last) => this.data(chunk.byteLength, last))
    this.write(isHead)
  }

  /**
   * Writes the answer without ending it natively: `end` would either close the socket over unread bytes, and the reset
   * would overtake the answer, or read on for ever. `writeStatus` takes any text and adds one line break, which is
   * counted as the end of the body. All of the text is the server's own or checked by `responseFault`.
   */
  write(isHead: boolean): void {
    const { status = 200, headers, body } = this.#response
    let text = `${statusLine(status)}\r\ndate: ${new Date().toUTCString()}\r\nconnection: close\r\n`
    for (const [name, value] of headers) text += `${name}: ${value}\r\n`
    text += `content-length: ${Buffer.byteLength(body as string) + 2}\r\n\r\n`
    this.#res.writeStatus(isHead ? text.slice(0, -2) : text + body)
    // Not within the callback of a piece: the answer may still be in the cork buffer, which closing discards.
    this.#rest = new BodyRest(() => setImmediate(() => this.#close()), this.#timeMs)
  }

  /** Counts and drops a piece of the body. */
  data(bytes: number, last: boolean): void {
    this.#rest?.drop(bytes, last)
  }

  /** Called when the connection is gone. */
  aborted(): void {
    this.#over = true
    this.#rest?.stop()
  }

  #close(): void {
    if (this.#over) return
    this.aborted()
    try {
      this.#res.close()
    } catch {
      // Closed by the other side in the same tick.
    }
  }
}
