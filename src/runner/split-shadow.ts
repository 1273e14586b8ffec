/** Copies of calls for a version that never answers, within a budget of its own. @module */
import { deserialize, serialize } from 'node:v8'
import { Overloaded, ServingError } from '../core/errors.ts'
import { isPromise } from '../core/promise.ts'
import { differenceOf, type Tolerance } from '../values/difference.ts'
import type { Version } from './split-version.ts'
import { packCopy, unpack } from './transfer.ts'

/** What the copies of a shadow may take. */
interface BudgetSettings {
  readonly calls: number
  readonly maxBytes: number
  readonly timeout: number
}

const maxFindings = 20
const unwaited: readonly string[] = ['client_closed', 'deadline_exceeded']

/** One call that a shadow gets once it is answered; undefined for one that it does not get. */
export type ShadowCall = ReturnType<ReturnType<typeof shadowOf>['begin']>

/** @returns what makes copies of calls for a version, and what that came to. */
export function shadowOf(
  version: Version,
  { calls, maxBytes, timeout }: BudgetSettings,
  tolerance: Tolerance | undefined,
) {
  const held = { calls: 0, bytes: 0 }
  const report = {
    held,
    differences: 0,
    dropped: { calls: 0, memory: 0, uncopied: 0, unanswered: 0 },
    /** The last calls that it answered otherwise, without their values. */
    findings: [] as object[],
  }

  /** @returns undefined for a call that the shadow does not get. */
  const begin = (method: string, input: unknown, request: string | undefined) => {
    if (held.calls === calls) {
      report.dropped.calls++
      return undefined
    }
    held.calls++
    const copies: Buffer[] = []
    let isOver = false
    const end = (dropped?: keyof typeof report.dropped) => {
      if (isOver) return
      isOver = true
      if (dropped !== undefined) report.dropped[dropped]++
      held.calls--
      for (const { length } of copies) held.bytes -= length
    }
    const add = (value: unknown) => {
      if (isOver) return
      let bytes = held.bytes
      const hold = (more: number) => {
        bytes += more
        if (bytes > maxBytes) throw new Overloaded('too many copies for the shadow')
      }
      try {
        const copy = serialize(packCopy(value, hold))
        bytes = held.bytes
        hold(copy.length)
        held.bytes = bytes
        copies.push(copy)
      } catch (error) {
        end(error instanceof Overloaded ? 'memory' : 'uncopied')
      }
    }
    const compare = async () => {
      const [copy, ...values] = copies.map((each) => unpack(deserialize(each)))
      const received: unknown[] = []
      const call = version.begin()
      let thrown: Error | undefined
      try {
        const signal = AbortSignal.timeout(timeout)
        const answer = version.call(method, copy, { signal, deadlineMs: Date.now() + timeout })
        if (isPromise(answer)) received.push(await answer)
        // One more than there should be is enough.
        else for await (const each of answer) if (received.push(each) > values.length) break
      } catch (error) {
        thrown = error as Error
        received.push(error)
      }
      call.ended(thrown)
      const isFailure = thrown !== undefined && !(values.at(-1) instanceof Error)
      const difference = isFailure || differenceOf(onlyOf(values), onlyOf(received), tolerance)
      if (difference === undefined) return
      const found = { time: new Date(), method, request }
      if (difference === true) report.findings.push({ ...found, error: thrown?.name })
      else {
        report.differences++
        report.findings.push({ ...found, at: difference.at, size: difference.size })
      }
      report.findings.splice(0, report.findings.length - maxFindings)
    }
    add(input)
    return {
      /** Copies a value of the answer: the function may change it. */
      add,
      /** Called once the caller has the answer, with its error if it failed. Never rejects. */
      async end(error?: unknown) {
        if (ServingError.is(error) && unwaited.includes(error.code)) end('unanswered')
        if (error !== undefined) add(error)
        if (!isOver) await compare().catch(() => end('uncopied'))
        end()
      },
    }
  }
  return { begin, report }
}

/** A call that answers once is compared by that answer. */
const onlyOf = (values: readonly unknown[]) => (values.length === 1 ? values[0] : values)
