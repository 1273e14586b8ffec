import { describe, expect, it } from 'vitest'
import { nativeStatus } from '../../src/core/native/add-on.ts'
import { requestsTo, two } from './requests.ts'
import { modelService } from './service.ts'

const { post, infer } = requestsTo(modelService())

describe('inference in JSON', () => {
  it('answers byte for byte as Triton does', async () => {
    const answer = await infer('double', [two])
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.text()).toBe(
      '{"model_name":"double","model_version":"1",' +
        '"outputs":[{"name":"output","datatype":"FP32","shape":[1,2],"data":[2.0,4.0]}]}',
    )
  })

  it('repeats the id, and takes any content-type or none', async () => {
    const answer = await infer(
      'double',
      [two],
      { id: 'a"b' },
      { 'content-type': 'application/octet-stream' },
    )
    expect(answer.text()).toMatch(/^\{"id":"a\\"b","model_name"/)
    expect((await infer('double', [two], { id: '' })).text()).not.toContain('"id"')
  })

  it('takes nested data, NaN and infinities, and exact 64-bit integers', async () => {
    expect(
      (
        await infer('double', [
          {
            ...two,
            shape: [2, 2],
            data: [
              [1, 2],
              [3, 4],
            ],
          },
        ])
      ).text(),
    ).toContain('[2.0,4.0,6.0,8.0]')
    const odd =
      '{"inputs":[{"name":"input","shape":[1,3],"datatype":"FP64","data":[NaN,Infinity,-Infinity]}]}'
    expect((await post('/v2/models/echo/infer', odd)).text()).toContain(
      '"data":[NaN,Infinity,-Infinity]',
    )
    const wide =
      '{"inputs":[{"name":"input","shape":[1],"datatype":"INT64","data":[9007199254740993]}]}'
    expect((await post('/v2/models/wide/infer', wide)).text()).toContain('[9007199254740993]')
  })

  it.each([
    'application/json',
    'application/json, text/plain;q=0.9, */*;q=0.5',
    'Application/JSON',
  ])('writes null for NaN and infinities if the client names JSON: %s', async (accept) => {
    const data = { name: 'input', datatype: 'FP64', shape: [3], data: 0 }
    const odd = JSON.stringify({ inputs: [data] }).replace('"data":0', '"data":[NaN,-Infinity,1.5]')
    expect((await post('/v2/models/echo/infer', odd, { accept })).json()).toMatchObject({
      outputs: [{ data: [null, null, 1.5] }],
    })
    const generated = await post('/v2/models/echo/generate', '{"input":[NaN,1.5]}', { accept })
    expect(generated.json()).toMatchObject({ output: [null, 1.5] })
    for (const other of ['*/*', 'text/html']) {
      expect((await post('/v2/models/echo/infer', odd, { accept: other })).text()).toContain(
        '[NaN,-Infinity,1.5]',
      )
    }
  })

  it('keeps a null among texts of frames, in both directions, and makes no word of it', async () => {
    const text = (data: readonly unknown[]) => ({
      name: 'name',
      datatype: 'BYTES',
      shape: [data.length],
      data,
    })
    const ages = { name: 'age', datatype: 'INT64', shape: [2], data: [1, 2] }
    const { outputs } = (await infer('frame', [text(['x', null]), ages])).json() as {
      outputs: object[]
    }
    expect(outputs[0]).toMatchObject({
      name: 'name',
      datatype: 'BYTES',
      shape: [2],
      data: ['x', null],
    })
    const none = (await infer('frame', [text([null, null]), ages])).json() as { outputs: object[] }
    expect(none.outputs[0]).toMatchObject({ data: [null, null] })
  })

  it.each([
    ['an array', 'words', 'input', ['x', null], 1],
    [
      'an array of lists',
      'words',
      'input',
      [
        ['x', 'y'],
        [null, 'z'],
      ],
      2,
    ],
    ['a text', 'spell', 'text_input', [null], 0],
    ['JSON', 'json', 'input', [null], 0],
  ])('refuses a null among the texts of %s', async (_, model, name, data, at) => {
    const answer = await infer(model, [
      { name, datatype: 'BYTES', shape: [data.flat().length], data },
    ])
    expect(answer.status).toBe(400)
    expect(answer.json()).toMatchObject({
      error: expect.stringContaining(`received null at element ${at}`),
    })
  })

  it('takes every datatype', async () => {
    const data: Record<string, unknown[]> = {
      BOOL: [true, false],
      UINT8: [0, 255],
      UINT16: [65535],
      UINT32: [4294967295],
      UINT64: [1],
      INT8: [-128],
      INT16: [-32768],
      INT32: [-2147483648],
      INT64: [-1],
      FP16: [0.5],
      FP32: [1.5],
      FP64: [0.1],
      BYTES: ['é', ''],
    }
    for (const [datatype, values] of Object.entries(data)) {
      const answer = await infer('echo', [
        { name: 'input', datatype, shape: [values.length], data: values },
      ])
      expect(answer.json()).toMatchObject({
        outputs: [{ datatype, shape: [values.length], data: values }],
      })
    }
  })

  it('names inputs by the parts of a form and the columns of a frame', async () => {
    const a = { name: 'a', datatype: 'INT64', shape: [3], data: [1, 2, 3] }
    const b = { name: 'b', datatype: 'BYTES', shape: [1, 1], data: ['hi'] }
    expect((await infer('form', [b, a])).json()).toMatchObject({
      outputs: [
        { name: 'sum', datatype: 'INT64', shape: [1], data: [6] },
        { name: 'text', datatype: 'BYTES', data: ['hi'] },
      ],
    })
    expect((await infer('form', [a])).text()).toContain('"none"')
    const frame = await infer('frame', [
      { name: 'age', datatype: 'INT64', shape: [2], data: [3, 4] },
      { name: 'name', datatype: 'BYTES', shape: [2, 1], data: ['x', 'y'] },
    ])
    expect(frame.json()).toMatchObject({
      outputs: [
        { name: 'name', datatype: 'BYTES', shape: [2], data: ['x', 'y'] },
        { name: 'age', datatype: 'INT64', shape: [2], data: [3, 4] },
      ],
    })
  })

  it('passes texts and JSON as elements of BYTES', async () => {
    const one = (name: string, data: string) => [
      { name, datatype: 'BYTES', shape: [1], data: [data] },
    ]
    expect((await infer('spell', one('text_input', 'abc'))).json()).toMatchObject({
      outputs: [{ name: 'text_output', datatype: 'BYTES', shape: [1], data: ['abc'] }],
    })
    expect((await infer('json', one('input', '{"a":[1]}'))).text()).toContain(
      '"data":["{\\"value\\":{\\"a\\":[1]}}"]',
    )
    expect((await infer('json', one('input', '{'))).status).toBe(400)
  })

  it('sends the outputs that are asked for, and the greatest classes', async () => {
    const a = { name: 'a', datatype: 'INT64', shape: [1], data: [1] }
    const only = await infer('form', [a], { outputs: [{ name: 'text' }] })
    expect(only.json<{ outputs: { name: string }[] }>().outputs.map(({ name }) => name)).toEqual([
      'text',
    ])
    expect(
      (await infer('form', [a], { outputs: [] })).json<{ outputs: unknown[] }>().outputs,
    ).toHaveLength(2)
    const rows = { ...two, shape: [2, 2], data: [1, 2, 4, 3.5] }
    const top = await infer('double', [rows], {
      outputs: [{ name: 'output', parameters: { classification: 5 } }],
    })
    expect(top.json()).toMatchObject({
      outputs: [
        {
          datatype: 'BYTES',
          shape: [2, 2],
          data: ['4.000000:1', '2.000000:0', '8.000000:0', '7.000000:1'],
        },
      ],
    })
  })

  it.each<[string, unknown, number, RegExp]>([
    ['no JSON', '{', 400, /expected JSON for the request, received the end/],
    ['a list', '[]', 400, /an object/],
    ['no inputs', {}, 400, /list of objects for inputs/],
    ['an empty list', { inputs: [] }, 400, /an input "input", received a request without it/],
    ['an id that is a number', { id: 1, inputs: [two] }, 400, /a string for id/],
    [
      'an unknown input',
      { inputs: [{ ...two, name: 'x' }] },
      400,
      /expected inputs "input" for the request, received "x"/,
    ],
    ['an input twice', { inputs: [two, two] }, 400, /once, received it twice/],
    ['no datatype', { inputs: [{ ...two, datatype: undefined }] }, 400, /one of BOOL/],
    ['an unknown datatype', { inputs: [{ ...two, datatype: 'FP8' }] }, 400, /received "FP8"/],
    [
      'another datatype',
      { inputs: [{ ...two, datatype: 'FP64' }] },
      400,
      /expected datatype FP32 .*received FP64/,
    ],
    ['a negative shape', { inputs: [{ ...two, shape: [-1, 2] }] }, 400, /list of whole numbers/],
    [
      'another shape',
      { inputs: [{ ...two, shape: [2, 1] }] },
      400,
      /expected shape \(-1, 2\) .* received shape \(2, 1\)/,
    ],
    [
      'too little data',
      { inputs: [{ ...two, data: [1] }] },
      400,
      /expected 2 elements \(shape \(1, 2\)\) .* received 1/,
    ],
    ['data of another kind', { inputs: [{ ...two, data: ['a', 'b'] }] }, 400, /elements of FP32/],
    ['data that is an object', { inputs: [{ ...two, data: { a: 1 } }] }, 400, /data/],
    [
      'no data',
      { inputs: [{ ...two, data: undefined }] },
      400,
      /expected data or binary_data_size/,
    ],
    [
      'a parameter that is a list',
      { inputs: [two], parameters: { a: [] } },
      400,
      /a string, a number or a boolean/,
    ],
    [
      'an unknown output',
      { inputs: [two], outputs: [{ name: 'x' }] },
      400,
      /expected outputs "output".*received "x"/,
    ],
    [
      'a shape beyond memory',
      { inputs: [{ ...two, shape: [1e9, 1e9], data: [] }] },
      400,
      /fewer elements/,
    ],
    ['many empty lists', { inputs: [{ ...two, shape: [1e12, 0], data: [] }] }, 400, /empty lists/],
  ])('refuses %s', async (_, body, status, message) => {
    const answer = await post('/v2/models/double/infer', body)
    expect(answer.status).toBe(status)
    expect(answer.json<{ error: string }>().error).toMatch(message)
  })

  it('says no more than that a function failed', async () => {
    const answer = await infer('broken', [{ ...two, datatype: 'FP64' }])
    expect(answer.status).toBe(500)
    expect(answer.text()).toContain('"error":"the function failed"')
    expect(answer.text()).not.toContain('secret')
  })

  it.skipIf(!nativeStatus.loaded)(
    'reads a long list on other threads by the add-on, with the same result',
    async () => {
      const count = 300_000
      const data = Array.from({ length: count }, (_, i) => i / 4)
      const answer = await infer('double', [
        { name: 'input', datatype: 'FP32', shape: [count / 2, 2], data },
      ])
      const { outputs } = answer.json<{ outputs: { data: number[] }[] }>()
      expect(outputs[0].data.length).toBe(count)
      expect(outputs[0].data.at(-1)).toBe((count - 1) / 2)
      const words = Array.from({ length: 100_000 }, (_, i) => `w${i}`)
      const long = await infer('words', [
        { name: 'input', datatype: 'BYTES', shape: [words.length], data: words },
      ])
      expect(long.json<{ outputs: { data: string[] }[] }>().outputs[0].data.at(-1)).toBe('w99999!')
    },
  )
})

describe('generate', () => {
  it('answers with one object', async () => {
    const answer = await post('/v2/models/spell/generate', {
      text_input: 'hi',
      id: 7,
      parameters: { times: 2 },
    })
    expect(answer.text()).toBe(
      '{"id":"7","model_name":"spell","model_version":"1","text_output":"hihi"}',
    )
    const flat = await post('/v2/models/double/generate', { input: [1, 2], stream: false })
    expect(flat.text()).toBe('{"model_name":"double","model_version":"1","output":[2.0,4.0]}')
  })

  it('sends events, an error as the last one', async () => {
    const answer = await post('/v2/models/spell/generate_stream', { text_input: 'ab', times: 1 })
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const event = (letter: string) =>
      `data: {"model_name":"spell","model_version":"1","text_output":"${letter}"}\n\n`
    expect(answer.text()).toBe(event('a') + event('b'))
    const broken = await post('/v2/models/spell/generate_stream', { text_input: 'boom' })
    expect(broken.text()).toMatch(/data: \{"error":"the function failed"\}\n\n$/)
  })

  it('refuses what is wrong with a status', async () => {
    expect((await post('/v2/models/none/generate_stream', { text_input: 'a' })).status).toBe(404)
    expect((await post('/v2/models/spell/generate_stream', {})).status).toBe(400)
    expect((await post('/v2/models/double/generate', { input: [1, 2, 3] })).status).toBe(400)
    const twice = { text_input: 'a', parameters: { text_input: 'b' } }
    const answer = await post('/v2/models/spell/generate', twice)
    expect([answer.status, answer.json<{ error: string }>().error]).toEqual([
      400,
      'expected input "text_input" once, received it twice',
    ])
    expect((await post('/v2/models/double/generate', { input: 'x' })).status).toBe(400)
  })
})

describe('JSON that looks like data', () => {
  it('finds data by its place, not by its name', async () => {
    const body =
      '{"parameters":{"data":"[1"},"data":[1,{"inputs":[3]}],"inputs":[{"parameters":{"data":"]}"},' +
      '"name":"input","data" : [ 1 , 2 ] , "shape":[1,2],"datatype":"FP32"}]}'
    expect((await post('/v2/models/double/infer', body)).text()).toContain('[2.0,4.0]')
    const odd =
      '{"inputs":[{"x\\"data":[7,8],"name":"input","d\\u0061ta":[1,2],"shape":[1,2],"datatype":"FP32"}]}'
    expect((await post('/v2/models/double/infer', odd)).text()).toContain('[2.0,4.0]')
  })

  it('reads texts with brackets and quotation marks', async () => {
    const data = ['"]}', '\\', '],[', '{"data":[']
    const answer = await infer('words', [{ name: 'input', datatype: 'BYTES', shape: [4], data }])
    expect(answer.json()).toMatchObject({ outputs: [{ data: data.map((word) => `${word}!`) }] })
  })
})
