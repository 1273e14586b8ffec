/** Suggestions for misspelled names. The only file that imports leven. @module */
import leven from 'leven'

/**
 * @returns ` (Did you mean port?)` for the known word nearest to a misspelled one, or an empty
 * text.
 */
export function didYouMean(word: string, known: readonly string[]): string {
  const letters = (text: string) => text.toLowerCase().replace(/[-_]/g, '')
  const distances = known.map((each) => ({ each, distance: leven(letters(word), letters(each)) }))
  const nearest = distances.sort((a, b) => a.distance - b.distance)[0]
  const isNear =
    nearest !== undefined && nearest.distance <= Math.min(3, Math.floor(word.length / 2))
  return isNear ? ` (Did you mean ${nearest.each}?)` : ''
}
