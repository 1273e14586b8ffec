import { describe, expect, it } from 'vitest'
import { readImageHeader } from '../../../src/image/header.ts'
import { fixtureBytes } from '../../fixtures/images/pictures.ts'

const u16 = (n: number) => [n >> 8, n & 255]
const u32 = (n: number) => [...u16(n >>> 16), ...u16(n & 0xffff)]
const text = (value: string) => [...Buffer.from(value, 'latin1')]
const box = (type: string, ...content: number[][]) => [
  ...u32(8 + content.flat().length),
  ...text(type),
  ...content.flat(),
]
const ispe = (width: number, height: number) => box('ispe', u32(0), u32(width), u32(height))
const alpha = box('auxC', u32(0), text('urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0'))

/** Fields of `[value, bits]` become bytes. */
const bytesOfBits = (fields: [value: number, bits: number][]) => {
  const digits = fields.map(([value, bits]) => value.toString(2).padStart(bits, '0')).join('')
  return [...Array(Math.ceil(digits.length / 8)).keys()].map((i) =>
    Number.parseInt(digits.slice(i * 8, i * 8 + 8).padEnd(8, '0'), 2),
  )
}
const unit = (type: number, content: number[]) => [(type << 3) | 2, content.length, ...content]
const sides = (width: number, height: number, bits: number): [number, number][] => [
  [bits - 1, 4],
  [bits - 1, 4],
  [width - 1, bits],
  [height - 1, bits],
]
/** A sequence header of a still picture (AV1 specification 5.5.1). */
const still = (width: number, height: number, bits = 16) =>
  unit(1, bytesOfBits([[0, 3], [1, 1], [1, 1], [0, 5], ...sides(width, height, bits)]))
/** The longest form, with timing, decoder model and two operating points. */
const moving = (width: number, height: number, bits: number) =>
  unit(
    1,
    bytesOfBits([
      [0, 3],
      [0, 1],
      [0, 1],
      [1, 1],
      [1, 32],
      [25, 32],
      [1, 1],
      [1, 1], // timing; a uvlc of one bit
      [1, 1],
      [9, 5],
      [1, 32],
      [3, 5],
      [3, 5], // decoder model with delays of 10 bits
      [1, 1],
      [1, 5],
      [0, 12],
      [8, 5],
      [1, 1],
      [1, 1],
      [5, 10],
      [5, 10],
      [0, 1],
      [1, 1],
      [3, 4],
      [0, 12],
      [4, 5],
      [0, 1],
      [0, 1],
      ...sides(width, height, bits),
    ]),
  )

interface Parts {
  properties?: number[][]
  items?: number[][]
  extra?: number[]
  version?: number
  method?: number
}

/** A file with items in `mdat`, found through an `iloc` of 32-bit offsets. */
function avif({
  properties = [ispe(5, 6)],
  items = [still(5, 6)],
  extra = [],
  version = 0,
  method = 0,
}: Parts): Uint8Array {
  const head = box('ftyp', text('avif'), u32(0))
  const meta = (start: number): number[] => {
    let at = start
    const entries = items.flatMap((item, i) => {
      const entry = [
        ...u16(i + 1),
        ...(version === 0 ? [] : u16(method)),
        ...u16(0),
        ...u16(1),
        ...u32(at),
        ...u32(item.length),
      ]
      at += item.length
      return entry
    })
    const iloc = box('iloc', [version, 0, 0, 0], u16(0x4400), u16(items.length), entries)
    return box('meta', u32(0), iloc, box('iprp', box('ipco', ...properties)), extra)
  }
  const length = head.length + meta(0).length + 8
  return Uint8Array.from([...head, ...meta(length), ...box('mdat', items.flat())])
}

describe('the header of AVIF', () => {
  it('takes the largest of the sizes and sees alpha', () => {
    expect(readImageHeader(avif({}))).toEqual({ mimeType: 'image/avif', width: 5, height: 6, alpha: false })
    const properties = [ispe(5, 6), alpha, ispe(500, 600), ispe(1, 1)]
    expect(readImageHeader(avif({ properties }))).toMatchObject({ width: 500, height: 600, alpha: true })
  })

  it('believes the coded frame where that is larger than the file says', () => {
    expect(readImageHeader(avif({ items: [still(12000, 9000)] }))).toMatchObject({ width: 12000, height: 9000 })
    const behind = [...unit(2, []), ...unit(5, [1, 2, 3]), ...still(2, 2), ...still(300, 200)]
    expect(readImageHeader(avif({ items: [[0], still(5, 6), behind], version: 1 }))).toMatchObject({
      width: 300,
      height: 200,
    })
  })

  it('reads sequence headers with everything in them', () => {
    expect(readImageHeader(avif({ items: [moving(4000, 3000, 12)] }))).toMatchObject({ width: 4000, height: 3000 })
  })

  it('counts a size that a frame may bring itself', () => {
    expect(readImageHeader(avif({ items: [moving(5, 6, 16)] }))).toMatchObject({ width: 65536, height: 65536 })
    expect(readImageHeader(avif({ items: [still(5, 6, 16)] }))).toMatchObject({ width: 5, height: 6 })
  })

  it('is not misled by a real file that says it is smaller', () => {
    const bytes = Buffer.from(fixtureBytes('rgba.avif'))
    for (let at = bytes.indexOf('ispe'); at >= 0; at = bytes.indexOf('ispe', at + 1)) {
      bytes.writeUInt32BE(1, at + 8)
      bytes.writeUInt32BE(1, at + 12)
    }
    expect(readImageHeader(bytes)).toMatchObject({ width: 24, height: 18 })
  })

  it.each<[string, Parts]>([
    ['no size', { properties: [] }],
    ['no coded frame', { items: [[0, 1, 2]] }],
    ['no item', { items: [] }],
    ['data made of other items', { version: 1, method: 2 }],
    ['inline data that is not there', { version: 1, method: 1 }],
    ['two lists of places', { extra: box('iloc', u32(0), u32(0)) }],
    ['a sequence of pictures', { extra: box('moov') }],
    ['an unknown version', { version: 3 }],
    ['more units than pictures have', { items: [new Array(5000).fill([0x12, 0]).flat().concat(still(5, 6))] }],
  ])('refuses %s', (_title, parts) => {
    expect(readImageHeader(avif(parts))).toBeUndefined()
  })

  it('ends on boxes of every length that does not fit', () => {
    for (const length of [0, 1, 2, 7, 8, 0xffffffff]) {
      const bytes = Uint8Array.from([...box('ftyp', text('avif'), u32(0)), ...u32(length), ...text('meta\0\0\0\0')])
      expect(readImageHeader(bytes)).toBeUndefined()
    }
  })
})
