import fc from 'fast-check'
import { io } from 'serving'
import { expect, it } from 'vitest'
import { HeaderList, HttpRequest } from '../../src/http/message.ts'
import { type LastRequest, readInfer } from '../../src/protocols/oip/infer-json.ts'
import { requestsTo } from './requests.ts'
import { modelService } from './service.ts'

const tensor = (name: string, data: string, rest = '') =>
  `{"name":"${name}","shape":[1,2],"datatype":"FP32"${rest},"data":${data}}`
const body = (id: string, a: string, b: string) =>
  `{"id":"${id}","inputs":[${tensor('a', a)},${tensor('b', b, ',"parameters":{"k":1}')}],"parameters":{"p":true}}`

/** The request or the error that a body gives after others. */
async function outcome(text: string, last: LastRequest): Promise<unknown> {
  try {
    return await readInfer(
      new HttpRequest(new HeaderList([], []), Buffer.from(text)),
      undefined,
      last,
    )
  } catch (error) {
    return `${error}`
  }
}

it('takes elements and id of the new request', async () => {
  const last: LastRequest = {}
  await outcome(body('one', '[1, 2]', '[3,4]'), last)
  const again = await outcome(body('t\\u0041o', '[[5,\n6.5]]', '[-0.0,8e2 ]'), last)
  expect(again).toMatchObject({
    id: 'tAo',
    parameters: { p: true },
    inputs: [
      { name: 'a', array: { data: Float32Array.of(5, 6.5), shape: [1, 2] } },
      { name: 'b', array: { data: Float32Array.of(-0, 800) } },
    ],
  })
})

it('reads a request behind another one as it reads it alone', async () => {
  const piece = fc.constantFrom(
    ...[
      '[1,2]',
      '[[1],[2]]',
      '[1,2',
      '1,2]',
      '[1]],[2]',
      '[1,2]}',
      '"data":[1,2]',
      '[1,2],"data":[3,4]',
      '{}',
      '[]',
    ],
    ...[
      '"[1,2]"',
      '[1,2]},{"name":"c"}',
      'null',
      ' [ 1 , 2 ] ',
      '[1,"\\"]",2]',
      '[NaN,2]',
      '[1,2]//',
      '',
      '"',
      '[{}]',
    ],
  )
  const id = fc.constantFrom(
    '',
    'x',
    '\\"',
    '\\',
    '","inputs":[],"x":"',
    'é',
    '\\ud800',
    '\n',
    'x'.repeat(50),
  )
  await fc.assert(
    fc.asyncProperty(
      id,
      piece,
      piece,
      id,
      piece,
      piece,
      fc.nat(400),
      async (i, a, b, j, c, d, cut) => {
        const last: LastRequest = {}
        for (const first of [body('', '[1,2]', '[3,4]'), body(i, a, b)]) await outcome(first, last)
        const text = body(j, c, d)
        for (const next of [text, text.slice(0, cut), `${text.slice(0, cut)} ${text.slice(cut)}`]) {
          const { seen } = last
          expect(await outcome(next, { ...(seen && { seen }) })).toEqual(await outcome(next, {}))
        }
      },
    ),
    { numRuns: 1000 },
  )
})

it('gives each function its own shape and parameters', async () => {
  const svc = modelService()
  svc.api(
    { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
    function changer(x, ctx) {
      ;(x.shape as number[]).push(1)
      ;(ctx.parameters as Record<string, unknown>).more = true
      return x
    },
  )
  const { infer } = requestsTo(svc)
  const ask = () =>
    infer('changer', [{ name: 'input', shape: [2], datatype: 'FP64', data: [1, 2] }], {
      parameters: { p: 1 },
    })
  const first = (await ask()).json()
  expect((await ask()).json()).toEqual(first)
  expect(first).toMatchObject({ outputs: [{ shape: [2, 1] }] })
})
