/** Sounds and films on the page: of the input and of the answer. `make-film.mjs` made the film. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { chromium, servePage } from './browser.ts'
import svc from './service.ts'

const rate = 8000

/** A tone of a quarter of a second, in PCM of 16 bits. */
function tone(): Buffer {
  const samples = Int16Array.from({ length: rate / 4 }, (_, i) => 8000 * Math.sin(i / 3))
  const data = Buffer.from(samples.buffer)
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ])
    head.writeUInt16LE(value, at)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(2 * rate, 28)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

describe.skipIf(chromium === undefined)('sounds and films in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1')
  const folder = mkdtempSync(join(tmpdir(), 'serving-media-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Plays what a part of the page shows, to its end. */
  const played = (selector: string) =>
    on.page.$eval(selector, async (each) => {
      const media = each as HTMLVideoElement
      media.muted = true
      const ended = new Promise((resolve, reject) => {
        media.onended = resolve
        media.onerror = () => reject(new Error(media.error?.message))
      })
      await media.play()
      await ended
      const { duration, readyState, videoWidth, videoHeight, controls } = media
      return { duration, readyState, videoWidth, videoHeight, controls }
    })

  const answeredWith = async (file: string) => {
    await on.open('copy')
    await on.upload('input[type=file]', file)
    expect((await on.send()).status).toBe('200')
  }

  it('plays a sound that is sent and answered', async () => {
    const file = join(folder, 'tone.wav')
    writeFileSync(file, tone())
    await answeredWith(file)
    for (const place of ['.shown audio', '.answer audio'])
      expect(await played(place)).toMatchObject({ duration: 0.25, controls: true })
    expect(on.faults).toEqual([])
  })

  it('plays a film that is sent and answered', async () => {
    await answeredWith(fileURLToPath(new URL('film.webm', import.meta.url)))
    for (const place of ['.shown video', '.answer video'])
      expect(await played(place)).toMatchObject({
        videoWidth: 32,
        videoHeight: 24,
        controls: true,
      })
    expect(on.faults).toEqual([])
  })
})
