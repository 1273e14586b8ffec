import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BinaryFile, Context, InvalidArgument, io, wholeBody } from 'serving'
import { describe, expect, it } from 'vitest'
import { TempFile } from '../../../../src/core/file/temp-file.ts'
import { MemoryBudget } from '../../../../src/core/memory/memory-budget.ts'
import { Spooler } from '../../../../src/descriptors/spooler.ts'

const MiB = 1024 * 1024

const noise = (size: number) =>
  Buffer.from(Uint32Array.from({ length: size / 4 }, (_, i) => Math.imul(i, 2654435761)).buffer)

async function collect(file: BinaryFile): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of file.stream()) {
    expect(piece.length).toBeLessThanOrEqual(256 * 1024)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Returns a file of `content` that came in pieces, with the context that ends it. */
async function received(
  content: Uint8Array,
  pieceBytes: number,
  spoolAboveBytes: number | undefined,
  declared?: number,
  ctx = new Context(),
) {
  const spooler = new Spooler({ name: 'n', mimeType: 'a/b' }, spoolAboveBytes, ctx, declared)
  for (let at = 0; at < content.length; at += pieceBytes) {
    const piece = Uint8Array.from(content.subarray(at, at + pieceBytes))
    // As a server that reads on, pause or not.
    void spooler.write(piece)
    piece.fill(0)
  }
  return { ctx, file: await spooler.end() }
}

describe('a BinaryFile', () => {
  it('is bytes with a name and a type', async () => {
    const file = new BinaryFile(Buffer.from('abc'), { name: 'a.txt', mimeType: 'text/plain' })
    expect({
      name: file.name,
      type: file.mimeType,
      size: file.size,
      spooled: file.isSpooled,
    }).toEqual({
      name: 'a.txt',
      type: 'text/plain',
      size: 3,
      spooled: false,
    })
    expect((await collect(file)).toString()).toBe('abc')
    expect(new BinaryFile(new Uint8Array(0))).toMatchObject({
      name: undefined,
      mimeType: 'application/octet-stream',
      size: 0,
    })
    expect(await collect(new BinaryFile(new Uint8Array(0)))).toHaveLength(0)
  })

  it('is made of bytes only', () => {
    expect(() => new BinaryFile('abc' as never)).toThrow(InvalidArgument)
    expect(() => new BinaryFile(undefined as never)).toThrow(InvalidArgument)
  })

  it.each([
    [0, 0],
    [1, 0],
    [1000, 1000],
    [1000, 999],
    [256 * 1024, 256 * 1024 - 1],
    [256 * 1024 + 4, 100],
    [3_000_000, 1_000_000],
    [12_000_000, 0],
  ])('of %i bytes is the same in memory and on disk above %i', async (size, spoolAboveBytes) => {
    const content = noise(size + 4).subarray(0, size)
    for (const [pieceBytes, declared] of [
      [65_536, undefined],
      [700_001, undefined],
      [65_536, size],
      [700_001, size],
    ] as const) {
      const { ctx, file } = await received(content, pieceBytes, spoolAboveBytes, declared)
      expect(file.isSpooled).toBe(size > spoolAboveBytes)
      expect((await collect(file)).equals(content)).toBe(true)
      expect(Buffer.from(file.bytes).equals(content)).toBe(true)
      expect(file.bytes).toBe(file.bytes)
      expect(file).toMatchObject({ name: 'n', mimeType: 'a/b', size, isSpooled: false })
      ctx.end()
      // What was loaded stays.
      expect(file.bytes).toHaveLength(size)
    }
  })

  it.each([0, 1e9])('is whole for wholeBody, on disk above %i bytes', async (spoolAboveBytes) => {
    const content = noise(1_000_000)
    const { file } = await received(content, 65_536, spoolAboveBytes)
    for (const copy of [1, 2]) {
      const body = await wholeBody(new io.File().toHttpResponse(file))
      expect([copy, content.equals(body)]).toEqual([copy, true])
    }
  })

  it.each([
    ['of 4 MiB', 4 * MiB, undefined, 0, false],
    ['above 4 MiB', 4 * MiB + 4, undefined, 0, true],
    ['of announced 4 MiB', 4 * MiB, 4 * MiB, 0, false],
    ['of announced 16 MiB', 16 * MiB, 16 * MiB, 64 * MiB, false],
    ['of announced 16 MiB, with less memory to spare', 16 * MiB, 16 * MiB, 64 * MiB - 4, true],
    ['above announced 16 MiB', 16 * MiB + 4, 16 * MiB + 4, 0, true],
  ])(
    '%s is on disk by default only without memory to spare',
    async (_, size, declared, maxMemory, isSpooled) => {
      const budget = new MemoryBudget(maxMemory)
      const content = noise(size)
      for (const pieceBytes of [65_536, 5_000_000]) {
        const ctx = new Context({ reservation: budget })
        const { file } = await received(content, pieceBytes, undefined, declared, ctx)
        expect(file.isSpooled).toBe(isSpooled)
        expect(budget.used).toBe(isSpooled || size <= 4 * MiB ? 0 : size)
        expect(Buffer.from(file.bytes).equals(content)).toBe(true)
        budget.release(budget.used)
        ctx.end()
      }
    },
  )

  it('on disk is gone when its request is over, with a clear error', async () => {
    const { ctx, file } = await received(noise(1000), 100, 10)
    const stream = file.stream()
    ctx.end()
    expect(() => file.bytes).toThrow('the file was used after its request had ended')
    await expect(stream.next()).rejects.toThrow('the file was used after its request had ended')
  })

  it('on disk that the disk does not take fails the upload', async () => {
    const ctx = new Context()
    const spooler = new Spooler({}, 0, ctx)
    spooler.write(noise(1000))
    // As a full disk: every write fails from now on.
    ctx.end()
    await expect(spooler.end()).rejects.toThrow()
    expect(() => spooler.write(noise(1_000_000))).toThrow()
  })
})

describe('a TempFile', () => {
  it('has no name', () => {
    const directory = mkdtempSync(join(tmpdir(), 'temp-file-'))
    const file = new TempFile(directory)
    expect(readdirSync(directory)).toEqual([])
    file.release()
    file.release()
    rmdirSync(directory)
  })

  it('is closed only when reads and writes under way are done: its number may be given to another file', async () => {
    for (let round = 0; round < 20; round++) {
      const file = new TempFile()
      const writing = file.write(noise(1_000_000), 0)
      file.release()
      const other = new TempFile()
      await other.write(Buffer.from('other'), 0)
      await writing
      expect(Buffer.from(other.readSync(5)).toString()).toBe('other')
      const piece = new Uint8Array(5)
      await other.read(piece, 0)
      expect(Buffer.from(piece).toString()).toBe('other')
      await expect(other.read(new Uint8Array(6), 0)).rejects.toThrow('shorter')
      other.release()
      await expect(other.read(piece, 0)).rejects.toThrow('after its request had ended')
    }
  })
})
