import { readdirSync, readFileSync } from 'node:fs'
import { Transformer } from '@napi-rs/image'
import { BadInput, NDArray } from 'serving'
import { loadOnnx } from 'serving/onnx'
import { describe, expect, it } from 'vitest'
import { prepare, readDigit } from '../../examples/digits/digits.ts'

/** scikit-learn's own answer about a digit that the model has not seen. Made by `examples/digits/train.py`. */
interface Answer {
  readonly actual: number
  readonly predicted: number
  readonly probabilities: readonly number[]
}

const example = new URL('../../examples/digits/', import.meta.url)
const readJson = (name: string) => JSON.parse(readFileSync(new URL(name, example), 'utf8'))
const { rows, held_out_accuracy } = readJson('expected.json') as {
  rows: readonly (Answer & { readonly cells: readonly number[] })[]
  held_out_accuracy: number
}
const { rows: pictures, right } = readJson('held-out/expected.json') as {
  rows: readonly (Answer & { readonly picture: string })[]
  right: number
}
const model = await loadOnnx(new URL('model.onnx', example))

async function probabilitiesOf(cells: NDArray) {
  return (await model.run({ cells })).probabilities as NDArray<'float32'>
}

/** Returns the pixels of a picture: grey is one byte a pixel, RGB three. */
async function pixelsOf(name: string): Promise<NDArray<'uint8'>> {
  const file = readFileSync(new URL(`held-out/${name}`, example))
  // Where PNG has them: big-endian, after the signature and the chunk's head.
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  const raw = await new Transformer(file).rawPixels()
  const grey = raw.length === width * height
  return new NDArray(new Uint8Array(raw), grey ? [height, width] : [height, width, 3])
}

const furthest = (a: readonly number[], b: readonly number[]) =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i])))

/** Returns a 5 × 3 bitmap of a seven, `scale` pixels a cell, on a canvas with margins. */
function seven(paper: number, ink: number, scale = 8): NDArray<'uint8'> {
  const bitmap = ['111', '001', '010', '010', '100']
  const [height, width] = [9 * scale, 7 * scale]
  const data = new Uint8Array(height * width).fill(paper)
  for (let y = 0; y < 5 * scale; y++) {
    for (let x = 0; x < 3 * scale; x++) {
      if (bitmap[Math.floor(y / scale)][Math.floor(x / scale)] === '1')
        data[(y + scale) * width + x + 2 * scale] = ink
    }
  }
  return new NDArray(data, [height, width], 'uint8')
}

describe('the digits model', () => {
  it("answers scikit-learn's digits and probabilities for every held-out row, in one batch", async () => {
    expect(rows).toHaveLength(360)
    const cells = new NDArray(Float32Array.from(rows.flatMap((row) => row.cells)), [
      rows.length,
      64,
    ])
    const { digit, probabilities } = await model.run({ cells })
    expect(Array.from(digit.data, Number)).toEqual(rows.map((row) => row.predicted))
    const wanted = rows.flatMap((row) => row.probabilities)
    expect(furthest(wanted, Array.from(probabilities.data as Float32Array))).toBeLessThan(1e-5)
  })

  it('is right as often as the training reported, and more than 97 times of 100', () => {
    const share = rows.filter(({ actual, predicted }) => actual === predicted).length / rows.length
    expect(share).toBe(held_out_accuracy)
    expect(held_out_accuracy).toBeGreaterThan(0.97)
  })
})

describe('held-back pictures', () => {
  it('are all there, in grey and RGB, four of each digit', () => {
    const files = readdirSync(new URL('held-out/', example)).filter((name) => name.endsWith('.png'))
    expect(pictures.map(({ picture }) => picture).sort()).toEqual(files.sort())
    for (let digit = 0; digit < 10; digit++)
      expect(pictures.filter(({ actual }) => actual === digit)).toHaveLength(4)
  })

  it("are read as scikit-learn reads them after Pillow and Python's own preparation", async () => {
    for (const { picture, predicted, probabilities } of pictures) {
      const reading = readDigit(await probabilitiesOf(prepare(await pixelsOf(picture))))
      expect({ picture, digit: reading.digit }).toEqual({ picture, digit: predicted })
      expect(furthest(probabilities, reading.probabilities)).toBeLessThan(1e-5)
    }
  })

  it('are read rightly, all of them', () => {
    expect(pictures.filter(({ actual, predicted }) => actual === predicted)).toHaveLength(right)
    expect(right).toBe(pictures.length)
  })
})

describe('prepare', () => {
  it('gives a digit that fills the picture at the training size back as it is', () => {
    // Paper at the left and right edges, as nearly all of the training data have it; the ink reaches 8 columns here.
    const cells = Array.from({ length: 64 }, (_, i) =>
      i % 8 === 0 || i % 8 === 7 ? (i === 24 || i === 31 ? 16 : 0) : 16,
    )
    const enlarged = new Uint8Array(64 * 64).map(
      (_, i) => (cells[(i >> 9) * 8 + ((i & 63) >> 3)] * 255) / 16,
    )
    const prepared = prepare(new NDArray(enlarged, [64, 64], 'uint8'))
    expect(prepared.shape).toEqual([1, 64])
    expect(furthest(cells, Array.from(prepared.data))).toBeLessThan(1e-5)
  })

  it('does not mind the size, the polarity or the contrast', () => {
    const wanted = prepare(seven(255, 0))
    for (const picture of [
      seven(0, 255),
      seven(200, 40),
      seven(90, 130),
      seven(255, 0, 1),
      seven(255, 0, 31),
    ]) {
      expect(furthest(Array.from(wanted.data), Array.from(prepare(picture).data))).toBeLessThan(
        1e-4,
      )
    }
  })

  it('takes the luma of colours', () => {
    const grey = seven(255, 0)
    const levels = new Uint8Array(grey.size * 3).map((_, i) => grey.data[Math.floor(i / 3)])
    const rgb = new NDArray(levels, [...grey.shape, 3], 'uint8')
    expect(prepare(rgb)).toEqual(prepare(grey))
  })

  it('takes a picture of one row or one column', () => {
    for (const shape of [
      [1, 9],
      [9, 1],
    ]) {
      expect(
        prepare(new NDArray(Uint8Array.of(0, 0, 0, 0, 255, 0, 0, 0, 0), shape)).data.every(
          Number.isFinite,
        ),
      ).toBe(true)
    }
  })

  it('refuses a picture without contrast, and pixels of another shape', () => {
    expect(() => prepare(new NDArray(new Uint8Array(100).fill(200), [10, 10], 'uint8'))).toThrow(
      BadInput,
    )
    for (const shape of [[100], [5, 5, 4], [10, 0]]) {
      const size = shape.reduce((a, b) => a * b)
      expect(() => prepare(new NDArray(new Uint8Array(size), shape, 'uint8'))).toThrow(
        /expected pixels of shape/,
      )
    }
  })
})
