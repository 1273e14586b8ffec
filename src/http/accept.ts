import { parseMediaType } from './media-type.ts'

// A comma in quotes does not end an item.
const listItems = /(?:"(?:\\.|[^"\\])*"?|[^,"])+/g

/**
 * @returns the type of `offered` that an Accept value ranks highest; of equal weight the most
 * specifically matched, then the first; undefined if it takes no type.
 * @see RFC 9110 section 12.5.1.
 */
export function preferredType(accept: string, offered: readonly string[]): string | undefined {
  // Most clients take anything, or name one type: these values need no parser.
  if (accept === '*/*') return offered[0]
  if (offered.includes(accept)) return accept
  const weights = new Map<string, number>()
  for (const [range] of accept.matchAll(listItems)) {
    const type = parseMediaType(range)
    if (type === undefined) continue
    const q = Number(type.parameters.get('q') ?? 1)
    // A malformed weight counts as a refusal.
    weights.set(type.essence, q >= 0 && q <= 1 ? q : 0)
  }
  let best: string | undefined
  let bestRank = 0
  for (const type of offered) {
    const rank = rankOf(type, weights)
    if (rank > bestRank) {
      best = type
      bestRank = rank
    }
  }
  return best
}

/** Orders types by weight, then by how specific their range is; 0 for a refused type. */
function rankOf(type: string, weights: ReadonlyMap<string, number>): number {
  const ranges = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']
  const level = ranges.findIndex((range) => weights.has(range))
  const weight = weights.get(ranges[level]) ?? 0
  // Weights have at most three decimals, so the level never outweighs a difference of weights.
  return weight === 0 ? 0 : weight * 10_000 + (ranges.length - level)
}

/**
 * Tells caches that another Accept gets another response.
 *
 * @see RFC 9110 section 12.5.5.
 */
export const variesByAccept = ['vary', 'accept'] as const
