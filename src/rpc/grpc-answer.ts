/** Follows a gRPC answer until it was sent. @module */
import type { Http2Stream } from 'node:http2'
import { TransferClock } from '../engine/transfer-clock.ts'

/** RFC 9113 section 7: CANCEL. */
const cancelCode = 8

/** Ends an answer whose client does not read: it would hold its slot and memory. */
export class GrpcAnswer {
  readonly #stream: Http2Stream
  readonly #clock: TransferClock | undefined
  #handed = 0
  #isSending = false

  /** `timeoutMs` 0: no limit. `onLate`: the client did not read in time, and the stream is cancelled. */
  constructor(stream: Http2Stream, timeoutMs: number, onLate: () => void) {
    this.#stream = stream
    if (timeoutMs === 0) return
    this.#clock = new TransferClock(
      timeoutMs,
      () => Math.max(0, this.#handed - stream.writableLength),
      () => {
        onLate()
        stream.close(cancelCode)
        stream.destroy()
      },
    )
  }

  get isSending(): boolean {
    return this.#isSending
  }

  count(bytes: number): void {
    this.#handed += bytes
  }

  async caughtUp(ready: Promise<void>): Promise<void> {
    this.#clock?.start()
    try {
      await ready
    } finally {
      this.#clock?.pause()
    }
  }

  /** Calls `done` once. `isWritten`: the kernel has all bytes; else they may still be read. */
  whenSent(bytes: number, done: (isWritten: boolean) => void): void {
    const stream = this.#stream
    if (stream.closed || stream.destroyed) {
      done(false)
      return
    }
    this.#isSending = true
    this.#handed += bytes
    this.#clock?.start()
    stream.once('close', () => {
      this.#clock?.pause()
      // A stream that was reset may leave frames in its session.
      done(stream.writableFinished)
    })
  }
}
