/** Answers requests whose bodies are refused, on uWebSockets.js. @module */
import type { HttpResponse } from '../../http/message.ts'
import { BodyRest } from '../body-rest.ts'
import { statusLine } from '../head.ts'
import type { NativeResponse } from './uws-package.ts'

/** Sends the answer, drops the rest of the body within bounds, closes the connection. */
export class UploadDrain {
  readonly #res: NativeResponse
  readonly #response: HttpResponse
  readonly #timeMs: number | undefined
  #rest: BodyRest | undefined
  #over = false

  constructor(res: NativeResponse, response: HttpResponse, timeMs?: number) {
    this.#res = res
    this.#response = response
    this.#timeMs = timeMs
  }

  start(isHead: boolean): void {
    this.#res.onAborted(() => this.aborted())
    this.#res.onData((chunk, last) => this.data(chunk.byteLength, last))
    this.write(isHead)
  }

  /** `end` would close the socket over unread bytes. `writeStatus` adds one line break, counted as the body's end. */
  write(isHead: boolean): void {
    const { status = 200, headers, body } = this.#response
    let text = `${statusLine(status)}\r\ndate: ${new Date().toUTCString()}\r\nconnection: close\r\n`
    for (const [name, value] of headers) text += `${name}: ${value}\r\n`
    text += `content-length: ${Buffer.byteLength(body as string) + 2}\r\n\r\n`
    this.#res.writeStatus(isHead ? text.slice(0, -2) : text + body)
    // The answer may still be in the cork buffer, which closing discards.
    this.#rest = new BodyRest(() => setImmediate(() => this.#close()), this.#timeMs)
  }

  data(bytes: number, last: boolean): void {
    this.#rest?.drop(bytes, last)
  }

  aborted(): void {
    this.#over = true
    this.#rest?.stop()
  }

  #close(): void {
    if (this.#over) return
    this.aborted()
    try {
      this.#res.close()
    } catch {}
  }
}
