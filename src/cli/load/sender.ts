/** What sends requests, of loads and of replays. @module */
import type { CapturedRequest } from '../../capture/captured-body.ts'

/** A request: of HTTP by POST unless it says otherwise; over gRPC and live streams, the body is one message. */
export interface Outgoing extends Partial<CapturedRequest> {
  /** When a capture has it. **Units**: milliseconds since 1970. */
  readonly atMs?: number
}

/** What came of a request. */
export interface Answer {
  /** What came instead of a right answer, such as `503`. */
  readonly fault?: string | undefined
  /** Its media type, over HTTP. */
  readonly type?: string | undefined
  readonly body?: Buffer
  /** Of an error of gRPC, a google.rpc.Status in base64. */
  readonly details?: unknown
}

/** Sends requests to one address. */
export interface Sender {
  /** It never rejects. */
  send(request: Outgoing): Promise<Answer>
  close(): void
}

/** Flags of the commands that send. */
export interface SenderFlags {
  /** In place of those of requests. */
  readonly header?: Readonly<Record<string, string>>
  /** At most so many at once; further requests wait, and their time counts. */
  readonly connections: number
  /** Of one request. **Units**: seconds. */
  readonly timeout: number
}

/** @returns a failure: the code of an error of the system, if it has one. */
export const faultOf = ({ code, message }: NodeJS.ErrnoException): Answer => ({
  fault: code ?? message,
})

/** @param start - Begins an exchange, and returns what ends it early. */
export function answerWithin(
  seconds: number,
  start: (settle: (answer: Answer) => void) => () => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    let end = () => {}
    const timer = setTimeout(() => {
      resolve({ fault: 'timeout' })
      end()
    }, seconds * 1000)
    const settle = (answer: Answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    try {
      end = start(settle)
    } catch (error) {
      settle(faultOf(error as Error))
    }
  })
}
