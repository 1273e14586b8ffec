import { describe, expect, it } from 'vitest'
import { rate, type Word, WordFinder } from '../../examples/live/words.ts'
import { chromium, launch, watch } from '../browser/browser.ts'
import { send, serveFile, until } from '../cli/process.ts'

/** Returns two seconds of a quiet room, with tones of 0.4 seconds from 0.3 and 1.1 on. */
function soundOf(pitches: readonly number[]): Float32Array {
  const tone = (i: number, pitch: number) =>
    Math.sin((2 * Math.PI * pitch * i) / rate) + Math.sin((4 * Math.PI * pitch * i) / rate)
  return Float32Array.from({ length: 2 * rate }, (_, i) => {
    const word = [0.3, 1.1].findIndex((from) => i >= from * rate && i < (from + 0.4) * rate)
    return (word === -1 ? 0 : 0.2 * tone(i, pitches[word])) + 0.001 * Math.sin(i * i)
  })
}

function wordsOf(sound: Float32Array, chunk: number): Word[] {
  const finder = new WordFinder()
  const words: Word[] = []
  for (let at = 0; at < sound.length; at += chunk)
    words.push(...finder.push(sound.subarray(at, at + chunk)))
  return [...words, ...finder.end()]
}

describe('words', () => {
  it('are found with their times and pitches, whatever the length of the pieces', () => {
    const words = wordsOf(soundOf([120, 250]), 1600)
    expect(words.map(({ start, end }) => [start, end])).toEqual([
      [0.3, 0.7],
      [1.1, 1.5],
    ])
    expect(words[0].pitch).toBeGreaterThan(118)
    expect(words[0].pitch).toBeLessThan(122)
    expect(words[1].pitch).toBeGreaterThan(246)
    expect(words[1].pitch).toBeLessThan(254)
    for (const chunk of [1, 97, 5000, 2 * rate])
      expect(wordsOf(soundOf([120, 250]), chunk)).toEqual(words)
  })

  it('have no pitch if they are noise, and end where the sound does', () => {
    let seed = 1
    const noise = () => {
      seed = (seed * 48271) % 0x7fffffff
      return seed / 0x7fffffff - 0.5
    }
    const sound = Float32Array.from(
      { length: rate },
      (_, i) => (i < rate / 2 ? 0.001 : 0.3) * noise(),
    )
    expect(wordsOf(sound, 1000)).toEqual([{ start: 0.5, end: 1, level: -21, pitch: null }])
  })

  it('are not found in a room without any, nor in clicks', () => {
    const click = Float32Array.from({ length: rate }, (_, i) => (i > 8000 && i < 8100 ? 0.5 : 0))
    expect(wordsOf(click, 800)).toEqual([])
  })
})

const title = 'the page shows words of a made voice, and of the microphone (needs chromium)'
it.skipIf(chromium === undefined)(title, { timeout: 120_000 }, async () => {
  const { port } = await serveFile('examples/live/service.ts', [
    '--workers',
    '1',
    '--engine',
    'uws',
  ])
  await until(async () => (await send(port, '/readyz')).status === 200)
  const browser = await launch()
  try {
    const { page, faults } = await watch(browser, `http://127.0.0.1:${port}`)
    await page.goto(`http://127.0.0.1:${port}/app`)
    const words = () => page.$$eval('li', (all) => all.map((each) => each.textContent ?? ''))
    const says = (status: string) =>
      page.waitForFunction(
        (wanted) => document.querySelector('output')?.textContent === wanted,
        {},
        status,
      )
    await page.click('#voice')
    await page.waitForSelector('li')
    await says('listening')
    await says('stopped')
    const pitches = (await words()).map((word) => Number.parseInt(word, 10))
    expect(pitches.length).toBe(4)
    for (const [i, pitch] of [110, 147, 196, 262].entries())
      expect(Math.abs(pitches[i] - pitch)).toBeLessThan(4)
    await page.click('#microphone')
    await says('listening')
    await page.waitForFunction(() => document.querySelectorAll('li').length > 1)
    await page.click('#stop')
    await says('stopped')
    expect((await words())[1]).toMatch(/Hz|no pitch/)
    expect(faults).toEqual([])
  } finally {
    await browser.close()
  }
})
