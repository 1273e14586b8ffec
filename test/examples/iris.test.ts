import { readFileSync } from 'node:fs'
import { type Api, Context, HeaderList, HttpRequest, NDArray } from 'serving'
import { loadOnnx } from 'serving/onnx'
import { describe, expect, it } from 'vitest'
import svc from '../../examples/iris/service.ts'
import { call } from '../../src/api/call.ts'

/**
 * A flower that the model has not seen, with what scikit-learn itself answers for it. Made by `examples/iris/train.py`.
 */
interface Flower {
  readonly measurements_cm: readonly [number, number, number, number]
  readonly actual: string
  readonly predicted: string
  readonly probabilities: Readonly<Record<string, number>>
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../examples/iris/${name}`, import.meta.url), 'utf8'))
const flowers = read('expected.json') as readonly Flower[]
const { held_out_accuracy } = read('model.json') as { held_out_accuracy: number }

function apiOf(name: string): Api {
  const api = svc.apis.get(name)
  if (api === undefined) throw new Error(`the service has no API ${name}`)
  return api
}

async function post(name: string, body: string, contentType = 'application/json') {
  const request = new HttpRequest(
    HeaderList.from({ 'content-type': contentType }),
    Buffer.from(body),
  )
  const response = await call(apiOf(name), request, new Context())
  const chunks: Buffer[] = []
  const pieces =
    typeof response.body === 'string' || response.body instanceof Uint8Array
      ? [response.body]
      : response.body
  for await (const piece of pieces) chunks.push(Buffer.from(piece))
  return {
    status: response.status ?? 200,
    type: response.headers.find(([header]) => header === 'content-type')?.[1],
    chunks: chunks.map(String),
    text: Buffer.concat(chunks).toString(),
  }
}

async function postJson(name: string, value: unknown) {
  const { status, text } = await post(name, JSON.stringify(value))
  return { status, value: JSON.parse(text) }
}

const named = ({
  measurements_cm: [sepal_length, sepal_width, petal_length, petal_width],
}: Flower) => ({
  sepal_length,
  sepal_width,
  petal_length,
  petal_width,
})

describe('classify', () => {
  it('answers the species that scikit-learn predicts for a batch of flowers', async () => {
    expect(flowers).toHaveLength(30)
    const { status, value } = await postJson(
      'classify',
      flowers.map((flower) => flower.measurements_cm),
    )
    expect(status).toBe(200)
    expect(value).toEqual(flowers.map((flower) => flower.predicted))
  })

  it('is right as often as the training reported', async () => {
    const { value } = await postJson(
      'classify',
      flowers.map((flower) => flower.measurements_cm),
    )
    const right = flowers.filter(({ actual }, i) => actual === value[i]).length
    expect(right / flowers.length).toBe(held_out_accuracy)
    expect(held_out_accuracy).toBeGreaterThan(0.9)
  })

  it('refuses rows of another number of columns, naming the shape', async () => {
    for (const body of [[[5.1, 3.5, 1.4]], [[5.1, 3.5, 1.4, 0.2, 1]], [5.1, 3.5, 1.4, 0.2], []]) {
      const { status, value } = await postJson('classify', body)
      expect(status).toBe(400)
      expect(value).toMatchObject({ status: 400, code: 'bad_input', reason: 'shape' })
      expect(value.detail).toContain('(-1, 4)')
    }
  })
})

describe('classify_flower', () => {
  it("answers scikit-learn's species and probabilities for named measurements", async () => {
    for (const flower of flowers) {
      const { status, value } = await postJson('classify_flower', named(flower))
      expect(status).toBe(200)
      expect(value.species).toBe(flower.predicted)
      expect(Object.keys(value.probabilities)).toEqual(Object.keys(flower.probabilities))
      for (const [species, probability] of Object.entries(flower.probabilities)) {
        expect(Math.abs(value.probabilities[species] - probability)).toBeLessThan(1e-6)
      }
    }
  })

  it('refuses a flower with a measurement missing, and names it', async () => {
    const { petal_width: _, ...flower } = named(flowers[0])
    const { status, value } = await postJson('classify_flower', flower)
    expect(status).toBe(400)
    expect(value).toMatchObject({ code: 'bad_input', reason: 'schema', path: 'petal_width' })
  })

  it("refuses a measurement that is not a positive number of a flower's size, and names it", async () => {
    for (const petal_length of [0, -1.4, 1e39, '1.4', null]) {
      const { status, value } = await postJson('classify_flower', {
        ...named(flowers[0]),
        petal_length,
      })
      expect(status).toBe(400)
      expect(value).toMatchObject({ reason: 'schema', path: 'petal_length' })
    }
  })
})

describe('describe', () => {
  it('streams several sentences about a species, chunk by chunk', async () => {
    const { status, type, chunks, text } = await post('describe', 'setosa', 'text/plain')
    expect({ status, type }).toEqual({ status: 200, type: 'text/plain; charset=utf-8' })
    expect(chunks).toHaveLength(4)
    expect(text).toBe(
      'Iris setosa is one of 3 species that this model tells apart. ' +
        'It has broad sepals and the smallest petals of the three, and is told apart from the other two with ease. ' +
        'An average sepal is 5 cm long and 3.4 cm wide. An average petal is 1.5 cm long and 0.3 cm wide.\n',
    )
  })

  it('knows every species that the model predicts, in any case and with a line break behind it', async () => {
    for (const species of new Set(flowers.map((flower) => flower.actual))) {
      const { status, text } = await post('describe', `${species.toUpperCase()}\n`, 'text/plain')
      expect(status).toBe(200)
      expect(text).toMatch(new RegExp(`^Iris ${species} is `))
    }
  })

  it('answers 404 for an unknown species instead of a broken stream', async () => {
    for (const name of ['tulip', '', '__proto__']) {
      const { status, text } = await post('describe', name, 'text/plain')
      expect(status).toBe(404)
      expect(JSON.parse(text)).toMatchObject({
        code: 'not_found',
        detail: expect.stringContaining('virginica'),
      })
    }
  })
})

describe('model.onnx', () => {
  it("answers scikit-learn's species and probabilities for every held-back flower", async () => {
    const { run, release } = await loadOnnx(
      new URL('../../examples/iris/model.onnx', import.meta.url),
    )
    const data = Float32Array.from(flowers.flatMap((flower) => flower.measurements_cm))
    const { species, probabilities } = await run({
      measurements: new NDArray(data, [flowers.length, 4]),
    })
    expect(species.data).toEqual(flowers.map((flower) => flower.predicted))
    const wanted = flowers.flatMap((flower) => Object.values(flower.probabilities))
    expect(probabilities.shape).toEqual([flowers.length, 3])
    wanted.forEach((odds, i) => {
      expect(Math.abs(Number(probabilities.data[i]) - odds)).toBeLessThan(1e-5)
    })
    await release()
  })
})

it('tells clients of the Open Inference Protocol its datatypes', async () => {
  const { inputs, outputs } = (await svc.inject({ path: '/v2/models/classify' })).json<
    Record<string, unknown>
  >()
  expect(inputs).toEqual([{ name: 'input', datatype: 'FP32', shape: [-1, 4] }])
  expect(outputs).toEqual([{ name: 'output', datatype: 'BYTES', shape: [-1] }])
})
