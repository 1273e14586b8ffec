/**
 * Finds words in sound: stretches that are louder than the room, with the pitch of their voice.
 * @module
 */

/** A word. Times count from the first sample. */
export interface Word {
  /** **Units**: seconds. */
  readonly start: number
  /** **Units**: seconds. */
  readonly end: number
  /** **Units**: decibels below full scale. */
  readonly level: number
  /** Of the voice; null for what has none, as `sh`. **Units**: hertz. */
  readonly pitch: number | null
}

/** **Units**: samples per second. */
export const rate = 16_000

const frame = rate / 50
const lowest = 70
const highest = 400
const quietest = -60
const aboveRoom = 12
/** A click is shorter, and a gap within a word, too. **Units**: frames. */
const shortestWord = 3
const shortestGap = 6
/** A longer sound is cut. **Units**: frames. */
const longestWord = 150

/** Finds words in chunks of any length. */
export class WordFinder {
  #rest = new Float32Array(0)
  #frames = 0
  #room = 0
  #word: Float32Array[] = []
  #quiet = 0

  /** Takes samples; returns the words that end in them. */
  push(samples: Float32Array): Word[] {
    const words: Word[] = []
    const all = new Float32Array(this.#rest.length + samples.length)
    all.set(this.#rest)
    all.set(samples, this.#rest.length)
    let at = 0
    for (; at + frame <= all.length; at += frame) {
      const word = this.#take(all.subarray(at, at + frame))
      if (word !== undefined) words.push(word)
    }
    this.#rest = all.slice(at)
    return words
  }

  /** Returns the word that the end of the sound cuts off. */
  end(): Word[] {
    const word = this.#cut()
    return word === undefined ? [] : [word]
  }

  #take(samples: Float32Array): Word | undefined {
    const level = levelOf(samples)
    this.#frames++
    // The room is as loud as its quietest moment, which counts less and less.
    this.#room = Math.min(level, this.#room + 0.05)
    const isLoud = level > Math.max(quietest, this.#room + aboveRoom)
    if (this.#word.length === 0 && !isLoud) return undefined
    this.#word.push(samples)
    this.#quiet = isLoud ? 0 : this.#quiet + 1
    return this.#quiet >= shortestGap || this.#word.length >= longestWord ? this.#cut() : undefined
  }

  #cut(): Word | undefined {
    const loud = this.#word.slice(0, this.#word.length - this.#quiet)
    const start = this.#frames - this.#word.length
    this.#word = []
    this.#quiet = 0
    if (loud.length < shortestWord) return undefined
    const sound = new Float32Array(loud.length * frame)
    for (const [i, each] of loud.entries()) sound.set(each, i * frame)
    const seconds = (frames: number) => (frames * frame) / rate
    const level = Math.round(levelOf(sound))
    return {
      start: seconds(start),
      end: seconds(start + loud.length),
      level,
      pitch: pitchOf(sound),
    }
  }
}

function levelOf(samples: Float32Array): number {
  return 10 * Math.log10(samples.reduce((sum, x) => sum + x * x, 1e-12) / samples.length)
}

/** Returns the median pitch of windows of two frames; null if most have none. */
function pitchOf(sound: Float32Array): number | null {
  const pitches: number[] = []
  let windows = 0
  for (let at = 0; at + 2 * frame <= sound.length; at += frame, windows++) {
    const period = periodOf(sound.subarray(at, at + 2 * frame))
    if (period !== undefined) pitches.push(rate / period)
  }
  if (pitches.length * 2 < windows) return null
  return Math.round(pitches.sort((a, b) => a - b)[pitches.length >> 1])
}

/** Returns the shortest shift, in samples, by which a window is like itself: the first peak of its autocorrelation. */
function periodOf(window: Float32Array): number | undefined {
  const size = window.length - Math.ceil(rate / lowest)
  const likeness = (shift: number) => {
    let [product, here, there] = [0, 1e-9, 1e-9]
    for (let i = 0; i < size; i++) {
      product += window[i] * window[i + shift]
      here += window[i] ** 2
      there += window[i + shift] ** 2
    }
    return product / Math.sqrt(here * there)
  }
  const shortest = Math.floor(rate / highest)
  const all = Array.from({ length: window.length - size - shortest }, (_, i) =>
    likeness(shortest + i),
  )
  const best = Math.max(...all)
  if (best < 0.6) return undefined
  const peak = all.findIndex(
    (value, i) => value > best * 0.9 && value >= (all[i - 1] ?? 0) && value >= (all[i + 1] ?? 0),
  )
  return shortest + peak
}
