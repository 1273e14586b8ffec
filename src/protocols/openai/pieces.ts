import { endIterator } from '../../api/stages.ts'
import { Waiter } from '../../core/waiter.ts'

/** What a generator of a Runner, or a function that returns all at once, gives. */
export type Pieces<T> = AsyncIterable<T> | Promise<T>

/** @returns what can be iterated. */
export function eachOf<T>(pieces: Pieces<T>): AsyncIterable<T> | Iterable<Promise<T>> {
  return Symbol.asyncIterator in pieces ? pieces : [pieces]
}

/**
 * Yields what several sources yield, as it comes, each with the number of its source. Ends them all if one fails.
 *
 * @throws those of the sources.
 */
export async function* merged<T>(
  sources: readonly AsyncIterator<T>[],
): AsyncGenerator<readonly [source: number, value: T]> {
  const ready: Promise<readonly [source: number, next: IteratorResult<T>]>[] = []
  const waiter = new Waiter()
  const read = (source: number) => {
    const next = sources[source].next().then((result) => [source, result] as const)
    const settle = () => {
      ready.push(next)
      waiter.wake()
    }
    next.then(settle, settle)
  }
  try {
    for (const source of sources.keys()) read(source)
    for (let open = sources.length; open > 0; ) {
      const first = ready.shift()
      if (first === undefined) {
        await waiter.wait()
        continue
      }
      const [source, next] = await first
      if (next.done) {
        open--
        continue
      }
      yield [source, next.value]
      read(source)
    }
  } finally {
    for (const source of sources) void endIterator(source)
  }
}
