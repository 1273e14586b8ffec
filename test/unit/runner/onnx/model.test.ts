import { fileURLToPath } from 'node:url'
import { InvalidArgument, NDArray } from 'serving'
import { intraOpThreadsFor, load } from 'serving/onnx'
import { describe, expect, it } from 'vitest'

const fileOf = (name: string) =>
  fileURLToPath(new URL(`../../../fixtures/onnx/${name}`, import.meta.url))
const row = new NDArray(Float32Array.of(1, 2, 3), [1, 3])

describe('the module of an ONNX Runner', () => {
  it('predicts the first output of a model with one input', async () => {
    const { predict, release } = await load({ path: fileOf('classes.onnx') })
    expect(await predict(row)).toEqual(new NDArray(Float32Array.of(-4, 8.5), [1, 2]))
    await release()
  })

  it('predicts the first of the outputs that were asked for', async () => {
    const { predict, run, release } = await load({
      path: fileOf('classes.onnx'),
      outputs: ['name', 'class'],
    })
    expect(await predict(row)).toEqual(new NDArray(['right']))
    expect(await run({ rows: row })).toEqual({
      name: new NDArray(['right']),
      class: new NDArray(BigInt64Array.of(1n)),
    })
    await release()
  })

  it('refuses to predict where the model has several inputs, naming them', async () => {
    const { predict, release } = await load({ path: fileOf('scale.onnx') })
    await expect(predict(row)).rejects.toThrow(
      /one input, .*scale\.onnx has matrix, factor; call run/,
    )
    await release()
  })
})

describe('intraOpThreadsFor', () => {
  it('keeps pool threads times intra-op threads within the cores, with at least one each', () => {
    expect([1, 2, 3, 8, 9].map((pool) => intraOpThreadsFor(pool, 8))).toEqual([8, 4, 2, 1, 1])
  })

  it('refuses what is no whole number from 1 up', () => {
    expect(() => intraOpThreadsFor(0, 8)).toThrow(InvalidArgument)
    expect(() => intraOpThreadsFor(1, 1.5)).toThrow(InvalidArgument)
  })
})
