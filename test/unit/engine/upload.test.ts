import { describe, expect, it } from 'vitest'
import { Upload } from '../../../src/engine/upload.ts'

/** Returns an upload to a receiver that works for `ms` on each piece, and what was called, in order. */
function uploadOf(ms: number, limit = 1000, reserve: (bytes: number) => boolean = () => true) {
  const heard: string[] = []
  let onRun!: (isCorked: boolean) => void
  const ran = new Promise<boolean>((resolve) => {
    onRun = resolve
  })
  const receiver = {
    write(piece: Uint8Array) {
      const endMs = performance.now() + ms
      while (performance.now() < endMs);
      heard.push(`write ${piece.join()}`)
    },
    end: () => undefined,
    abort: (reason: Error) => void heard.push(`abort ${reason.message}`),
  }
  const upload = new Upload(receiver as never, limit, {
    pause: () => void heard.push('pause'),
    resume: () => void heard.push('resume'),
    refuse: (error) => {
      heard.push(`refuse ${error.message}`)
      upload.abort(() => error)
    },
    run: onRun,
    fault: (error) => void heard.push(`fault ${String(error)}`),
    reserve,
  })
  return { upload, heard, ran }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('Upload', () => {
  it('passes cheap pieces on at once', async () => {
    const { upload, heard, ran } = uploadOf(0)
    for (let i = 0; i < 10; i++) upload.take(Uint8Array.of(i), i === 9)
    expect(heard).toHaveLength(10)
    expect(await ran).toBe(true)
    expect(heard).not.toContain('pause')
  })

  it('works for no more than two milliseconds and a piece in one turn', async () => {
    const { upload, heard, ran } = uploadOf(3)
    const piece = new Uint8Array(1)
    for (let i = 0; i < 8; i++) {
      piece[0] = i
      upload.take(piece, i === 7)
    }
    expect(heard).toEqual(['write 0', 'pause'])
    let turns = 0
    const written = () => heard.filter((line) => line.startsWith('write')).length
    while (written() < 8) {
      const before = written()
      await nextTurn()
      turns++
      expect(written() - before).toBeLessThanOrEqual(1)
    }
    expect(turns).toBeGreaterThanOrEqual(7)
    expect(await ran).toBe(false)
    // In order, and copied: the socket reuses its memory.
    expect(heard).toEqual(['write 0', 'pause', ...[1, 2, 3, 4, 5, 6, 7].map((i) => `write ${i}`), 'resume'])
  })

  it('passes nothing on once it was aborted', async () => {
    const { upload, heard } = uploadOf(3)
    for (let i = 0; i < 4; i++) upload.take(Uint8Array.of(i), false)
    upload.abort(() => new Error('gone'))
    for (let i = 0; i < 10; i++) await nextTurn()
    expect(heard).toEqual(['write 0', 'pause', 'resume', 'abort gone'])
  })

  it('counts pieces that wait against the limit of the body and against the memory', async () => {
    const { upload, heard } = uploadOf(3, 3)
    for (let i = 0; i < 4; i++) upload.take(Uint8Array.of(i), false)
    expect(heard.join()).toContain('refuse expected at most 3 bytes')
    const reserved: number[] = []
    const other = uploadOf(3, 100, (bytes) => reserved.push(bytes) > 0)
    for (let i = 0; i < 4; i++) other.upload.take(new Uint8Array(10), false)
    expect(reserved).toEqual([10, 20, 30])
    other.upload.abort(() => new Error('gone'))
  })
})
