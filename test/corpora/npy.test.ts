import { BadInput, io, type NDArray } from 'serving'
import { describe, expect, it } from 'vitest'
import { requestOf } from '../unit/descriptors/requests.ts'
import { filesBelow, madeCorpus, publicCorpus } from './corpus.ts'

interface NpyRow {
  readonly name: string
  readonly npy: string
  /** What numpy reads; left out where the file is refused. */
  readonly dtype?: string
  readonly shape?: readonly number[]
  /** Elements in C order, least significant byte first. */
  readonly bytes?: string
}

const ndarray = new io.NumpyNdarray()
const read = (file: Uint8Array) =>
  ndarray.fromHttpRequest(requestOf(file, 'application/x-npy')) as NDArray
const rows = madeCorpus<NpyRow>('npy.json')

describe('.npy files', () => {
  it.each(rows.filter(({ dtype }) => dtype !== undefined))(
    '$name: as numpy reads it',
    ({ npy, ...expected }) => {
      const { dtype, shape, data } = read(Buffer.from(npy, 'base64'))
      const { buffer, byteOffset, byteLength } = data as Uint8Array
      const bytes = Buffer.from(buffer, byteOffset, byteLength).toString('base64')
      expect({ name: expected.name, dtype, shape, bytes }).toEqual(expected)
    },
  )

  it.each(rows.filter(({ dtype }) => dtype === undefined))('$name: refused', ({ npy }) => {
    expect(() => read(Buffer.from(npy, 'base64'))).toThrow(BadInput)
  })
})

// https://github.com/numpy/numpy, BSD-3-Clause: files of Python 2 and 3 with pickled objects.
const corpus = publicCorpus('numpy')
describe.skipIf(corpus === undefined)("numpy's own .npy files", () => {
  it.each([...filesBelow(corpus, /\.npy$/)])('%s: objects are refused', (_name, file) => {
    expect(() => read(file)).toThrow(BadInput)
  })
})
