/** Follows a gRPC answer until it was sent. @module */
import type { Http2Stream } from 'node:http2'
import { TransferClock } from '../engine/transfer-clock.ts'

/** RFC 9113 section 7: CANCEL. */
const cancelCode = 8

/**
 * Watches an answer until the client has read it: a client with a flow-control window of 0 would otherwise hold its
 * slot, or the memory of its answers, as long as it likes.
 */
export class GrpcAnswer {
  readonly #stream: Http2Stream
  readonly #clock: TransferClock | undefined
  // Bytes handed to the stream. **Units**: bytes.
  #handed = 0
  #isSending = false

  /** `timeoutMs` 0: no limit. `onLate` is called when the client did not read in time; the stream is cancelled then. */
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

  /** Times the client until `ready` settles. */
  async caughtUp(ready: Promise<void>): Promise<void> {
    this.#clock?.start()
    try {
      await ready
    } finally {
      this.#clock?.pause()
    }
  }

  /**
   * Calls `done` once when the answer has left, or the stream was closed. `isWritten`: whether the kernel has all of
   * it; else its bytes may still be read.
   */
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
      // HTTP/2 reports a write when the socket has it; a stream that was reset may leave frames behind in its session.
      done(stream.writableFinished)
    })
  }
}
