/** Copies of calls for a version that never answers, within a budget of its own. @module */
import { deserialize, serialize } from 'node:v8'
import { Overloaded, ServingError } from '../core/errors.ts'
import { isPromise } from '../core/promise.ts'
import { differenceOf, type Tolerance } from '../values/difference.ts'
import type { SplitState } from './split-state.ts'
import { callVersion, type Version } from './split-version.ts'
import { packCopy, unpack } from './transfer.ts'

/** What the copies of a shadow may take. */
interface BudgetSettings {
  readonly calls: number
  readonly maxBytes: number
  readonly timeout: number
}

const maxFindings = 20
const unwaited: readonly string[] = ['client_closed', 'deadline_exceeded']

/** @returns what begins a call that a version gets once it is answered; undefined for one that it does not get. */
export function shadowOf(
  version: Version,
  state: SplitState,
  { calls, maxBytes, timeout }: BudgetSettings,
  tolerance: Tolerance | undefined,
) {
  const { held, dropped, findings } = state
  return (method: string, input: unknown, request: string | undefined) => {
    if (held.calls === calls) {
      dropped.calls++
      return undefined
    }
    held.calls++
    const copies: Buffer[] = []
    let isOver = false
    const end = (reason?: keyof typeof dropped) => {
      if (isOver) return
      isOver = true
      if (reason !== undefined) dropped[reason]++
      held.calls--
      for (const { length } of copies) held.bytes -= length
    }
    const add = (value: unknown) => {
      if (isOver) return
      let { bytes } = held
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
      let thrown: Error | undefined
      try {
        const answer = callVersion(version, method, copy, { deadlineMs: Date.now() + timeout })
        if (isPromise(answer)) received.push(await answer)
        // One more than there should be is enough.
        else for await (const each of answer) if (received.push(each) > values.length) break
      } catch (error) {
        thrown = error as Error
        received.push(error)
      }
      const found = { time: new Date(), method, request }
      if (thrown !== undefined && !(values.at(-1) instanceof Error))
        findings.push({ ...found, error: thrown.name })
      else {
        const difference = differenceOf(onlyOf(values), onlyOf(received), tolerance)
        if (difference === undefined) return
        state.differences++
        findings.push({ ...found, at: difference.at, size: difference.size })
      }
      findings.splice(0, findings.length - maxFindings)
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
}

/** A call that answers once is compared by that answer. */
const onlyOf = (values: readonly unknown[]) => (values.length === 1 ? values[0] : values)
