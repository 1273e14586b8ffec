/** What sends the requests of a load. @module */
import type { Answer } from './open-loop.ts'

/** One body. */
export interface Body {
  readonly bytes: Buffer
  readonly contentType: string
  /** @default POST */
  readonly method?: string
  /** @default that of the URL */
  readonly path?: string
  /** When a capture has it. **Units**: milliseconds since 1970. */
  readonly atMs?: number
}

/** Sends requests to one address. */
export interface Sender {
  /** It never rejects. */
  send(body: Body): Promise<Answer>
  close(): void
}

/** Options of senders. */
export interface SenderOptions {
  /** In addition to Content-Type. */
  readonly headers: Readonly<Record<string, string>>
  /** At most so many at once; further requests wait, and their time counts. */
  readonly connections: number
  /** Of one request. **Units**: milliseconds. */
  readonly timeoutMs: number
  /** Whether answers have their messages. */
  readonly keepsAnswers?: boolean
}

/** The answer that is right. */
export const rightAnswer: Answer = { isRight: true }

/** @returns a failure. */
export const faultOf = (fault: string): Answer => ({ isRight: false, fault })

/** @returns why there is no answer: the code of an error of the system, if it has one. */
export function faultOfError(error: unknown): Answer {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return faultOf(String(code ?? message))
}
