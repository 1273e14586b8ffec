/** The values that a model yields, as an async iterator on the caller's side. @module */
import { InternalError } from '../core/errors.ts'
import { Waiter } from '../core/waiter.ts'
import type { OpenStream } from './job.ts'
import type { StreamDown, StreamResult, StreamUp } from './model-messages.ts'
import { abortReason, whenAborted } from './runner-call.ts'
import type { CallOptions } from './runner-options.ts'
import { unpack } from './transfer.ts'

/** How many values a model may be ahead of its reader. */
export const streamWindow = 16

const left = Symbol('the reader left')

type Received = StreamResult | Error | typeof left

/**
 * Leaving the loop ends it.
 *
 * @returns a model's values.
 * @throws the method's; InternalError if its thread ended.
 */
export function valuesOf<T>(
  begin: () => Promise<OpenStream>,
  options: CallOptions,
): AsyncIterableIterator<T> {
  const received: Received[] = []
  const waiter = new Waiter()
  const receive = (up: Received) => {
    received.push(up)
    waiter.wake()
  }
  const breakOff = (why: Error | typeof left) => {
    received.length = 0
    receive(why)
  }

  async function* read(): AsyncGenerator<T, undefined> {
    const { channel, done, inputs, abandon } = await begin()
    const tell = (down: StreamDown) => channel.post(down)
    let isOpen = true
    const cancel = () => {
      isOpen = false
      tell({ kind: 'cancel' })
      abandon()
    }
    channel.listen((sent) => {
      const up = sent as StreamUp
      if (up.kind === 'next') inputs?.sendNext()
      else receive(up)
    })
    // A regular end comes over the channel, perhaps after `done` resolves.
    done.catch((cause: Error) =>
      receive(new InternalError(`the stream broke off: ${cause.message}`, { cause })),
    )
    tell({ kind: 'credit', count: streamWindow })
    const unsubscribe = whenAborted(options, (reason) => {
      if (isOpen) cancel()
      breakOff(abortReason(reason))
    })
    try {
      for (let taken = 1; ; taken++) {
        while (received.length === 0) await waiter.wait()
        const up = received.shift() as Received
        if (up === left) return undefined
        if (up instanceof Error) throw up
        isOpen = up.kind === 'item'
        if (up.kind === 'end') return undefined
        if (up.kind === 'failure') throw inputs?.error ?? (unpack(up.item) as Error)
        if (taken % (streamWindow / 2) === 0) tell({ kind: 'credit', count: streamWindow / 2 })
        yield unpack(up.item) as T
      }
    } finally {
      unsubscribe?.()
      inputs?.end()
      if (isOpen) {
        cancel()
        await done.catch(() => {})
      }
    }
  }

  const values = read()
  const iterator: AsyncIterableIterator<T> = {
    next: () => values.next(),
    return() {
      breakOff(left)
      return values.return(undefined)
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}
