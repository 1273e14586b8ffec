import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../../native/', import.meta.url))
const addOns = ['build/Release', 'prebuilds']
  .filter((part) => existsSync(folder + part))
  .flatMap((part) =>
    readdirSync(folder + part, { recursive: true }).map((file) => `${part}/${file}`),
  )
  .filter((file) => file.endsWith('.node') && !file.includes('/obj.target/'))

/** Entries of the dynamic section of a 64-bit ELF file, least significant byte first: tag and value. */
function dynamicEntries(file: Buffer): Map<number, number> {
  const [headers, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ]
  const found = new Map<number, number>()
  for (let i = 0; i < count; i++) {
    const at = headers + i * size
    if (file.readUInt32LE(at) !== 2) continue
    const start = Number(file.readBigUInt64LE(at + 8))
    const end = start + Number(file.readBigUInt64LE(at + 32))
    for (let entry = start; entry < end; entry += 16)
      found.set(Number(file.readBigInt64LE(entry)), Number(file.readBigUInt64LE(entry + 8)))
  }
  return found
}

/** Types of the program headers. */
function segments(file: Buffer): { readonly type: number; readonly flags: number }[] {
  const [headers, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ]
  return Array.from({ length: count }, (_, i) => {
    const at = headers + i * size
    return { type: file.readUInt32LE(at), flags: file.readUInt32LE(at + 4) }
  })
}

const [flagsTag, bindNow] = [30, 8]
const [stackSegment, relroSegment, executable] = [0x6474e551, 0x6474e552, 1]

// Built by GCC or Clang with native/binding.gyp, and by native/prebuild.mjs.
describe.skipIf(process.platform !== 'linux' || addOns.length === 0)('native add-ons', () => {
  it.each(addOns)('%s: canaries, read-only tables of addresses, a stack without code', (name) => {
    const file = readFileSync(folder + name)
    expect(file.includes('__stack_chk_fail')).toBe(true)
    expect((dynamicEntries(file).get(flagsTag) ?? 0) & bindNow).toBe(bindNow)
    const found = segments(file)
    expect(found.some(({ type }) => type === relroSegment)).toBe(true)
    expect(
      found.filter(({ type, flags }) => type === stackSegment && (flags & executable) !== 0),
    ).toEqual([])
  })
})
