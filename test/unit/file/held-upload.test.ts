import { Context, type io } from 'serving'
import { expect, it, vi } from 'vitest'
import { File } from '../../../src/descriptors/file.ts'
import { HeldUpload } from '../../../src/descriptors/held-upload.ts'
import { lifecycle } from '../../../src/http/context.ts'
import { HeaderList } from '../../../src/http/message.ts'

const mib = 1024 * 1024
const file = new File()

/** The receiver of an upload of that announced size, with the context that ends it. */
function receiverOf(size: number | undefined, more: Record<string, string> = {}, descriptor = file) {
  const ctx = new Context()
  const length = size === undefined ? undefined : { 'content-length': String(size) }
  return { ctx, receiver: descriptor.receive(HeaderList.from({ ...length, ...more }), ctx) as io.BodyReceiver<unknown> }
}

const isHeld = (...args: Parameters<typeof receiverOf>) => {
  const { ctx, receiver } = receiverOf(...args)
  receiver.abort(new Error('enough'))
  lifecycle.end(ctx)
  return receiver instanceof HeldUpload
}

it.each([1, 1000, mib, mib + 1, 3 * mib + 7])('holds %i bytes as they came', async (size) => {
  const content = Buffer.from(Uint8Array.from({ length: size }, (_, i) => i * 31 + (i >> 8)))
  const { ctx, receiver } = receiverOf(size, { 'content-type': 'a/b' })
  for (let at = 0; at < size; at += 100_000) {
    const piece = Uint8Array.from(content.subarray(at, at + 100_000))
    receiver.write(piece)
    piece.fill(0)
  }
  const value = (await receiver.end()) as { bytes: Uint8Array; isSpooled: boolean; mimeType: string }
  expect(value).toMatchObject({ isSpooled: false, mimeType: 'a/b' })
  expect(content.equals(value.bytes)).toBe(true)
  expect(value.bytes.buffer.byteLength).toBe(size)
  lifecycle.end(ctx)
})

it('refuses more bytes than were announced', () => {
  const { ctx, receiver } = receiverOf(10)
  receiver.write(new Uint8Array(10))
  expect(() => receiver.write(new Uint8Array(1))).toThrow('expected 10 bytes for a file, received more')
  lifecycle.end(ctx)
})

it('holds large uploads while they take an eighth of the free memory together', () => {
  const free = vi.spyOn(process, 'availableMemory').mockReturnValue(800 * mib)
  try {
    expect([isHeld(64 * mib), isHeld(64 * mib + 1)]).toEqual([true, false])
    const first = receiverOf(60 * mib)
    expect(first.receiver).toBeInstanceOf(HeldUpload)
    // 40 MiB are left.
    expect([isHeld(40 * mib), isHeld(41 * mib), isHeld(4 * mib)]).toEqual([true, false, true])
    free.mockReturnValue(0)
    expect([isHeld(4 * mib), isHeld(4 * mib + 1)]).toEqual([true, false])
    free.mockReturnValue(800 * mib)
    lifecycle.end(first.ctx)
    expect(isHeld(64 * mib)).toBe(true)
  } finally {
    free.mockRestore()
  }
})

it('goes by the size that was asked for, and not by what a part says of its length', () => {
  const small = new File({ spoolAboveBytes: 1000 })
  expect([isHeld(1000, {}, small), isHeld(1001, {}, small)]).toEqual([true, false])
  expect(isHeld(10, { 'content-disposition': 'form-data; name="a"; filename="b"' })).toBe(false)
  expect(isHeld(undefined)).toBe(false)
})
