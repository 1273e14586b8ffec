/** The calls of a capture, one file in memory at a time. @module */
import { bodyOf, messageOf } from '../capture/captured-body.ts'
import { filesOf, foldersOf } from '../capture/place.ts'
import { type CapturedCall, readCalls } from '../capture/read-rows.ts'
import { InvalidArgument } from '../core/errors.ts'
import type { BlobStore } from '../jobs/blob-store.ts'
import type { Outgoing } from './load/senders.ts'

/**
 * Yields the calls of all APIs, in the order in which their files were closed.
 *
 * @throws InvalidArgument for a folder that is not there.
 */
export async function* recordedCalls(place: string): AsyncGenerator<CapturedCall> {
  const files: [store: BlobStore, name: string][] = []
  for (const { store } of await foldersOf(place))
    for (const name of await filesOf(store)) files.push([store, name])
  files.sort(([, a], [, b]) => (a < b ? -1 : 1))
  for (const [store, name] of files) yield* readCalls(store, name)
}

/** @returns when a call came. **Units**: milliseconds since 1970. */
export function timeOf({ row }: CapturedCall): number {
  return Number(row.time)
}

/** A file has calls that ended in the minute before it was closed, and began up to a minute before. */
const windowMs = 120_000

/** Yields calls in the order in which they came. */
export async function* inOrder(calls: AsyncIterable<CapturedCall>): AsyncGenerator<CapturedCall> {
  const waiting: CapturedCall[] = []
  for await (const call of calls) {
    if (waiting.push(call) % 1000 > 0) continue
    const end = timeOf(waiting.sort(byTime)[waiting.length - 1]) - windowMs
    yield* waiting.splice(
      0,
      waiting.findIndex((each) => timeOf(each) >= end),
    )
  }
  yield* waiting.sort(byTime)
}

const byTime = (a: CapturedCall, b: CapturedCall) => timeOf(a) - timeOf(b)

/**
 * @returns a call as a request.
 * @throws InvalidArgument if it cannot be sent again.
 */
export async function requestOf(call: CapturedCall, isGrpc = false): Promise<Outgoing> {
  const request = isGrpc ? await messageOf(call) : await bodyOf(call)
  if (typeof request === 'string') throw new InvalidArgument(request)
  return request instanceof Uint8Array ? { body: request } : request
}
