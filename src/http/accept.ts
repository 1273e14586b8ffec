/**
 * Accept headers: which of several media types a client would rather have.
 * @module
 */
import { parseMediaType } from './media-type.ts'

/**
 * The first of `offered` that an Accept value ranks highest. Undefined when it names none of them; a `*` says nothing about
 * which, so it leaves the choice to the caller.
 *
 * **Source**: RFC 9110 section 12.5.1; the most specific range counts, `q=0` refuses.
 */
export function preferredType(accept: string, offered: readonly string[]): string | undefined {
  const weights = new Map<string, number>()
  for (const range of splitList(accept)) {
    const type = parseMediaType(range)
    if (type === undefined) continue
    const q = Number(type.parameters.get('q') ?? 1)
    // A weight that is none counts as refused: guessing could only send what nobody asked for.
    weights.set(type.essence, q >= 0 && q <= 1 ? q : 0)
  }
  let best: string | undefined
  let bestWeight = 0
  for (const type of offered) {
    const weight = weights.get(type) ?? 0
    if (weight > bestWeight) {
      best = type
      bestWeight = weight
    }
  }
  const others = weights.get('*/*') ?? 0
  return best !== undefined && bestWeight >= others ? best : undefined
}

/** Splits at commas outside quotes. */
function splitList(value: string): string[] {
  return value.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []
}
