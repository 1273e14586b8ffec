import pl from 'nodejs-polars'
import { io } from 'serving'
import { describe, expect, it } from 'vitest'
import { frameOf, polars } from './frames.ts'
import { requestOf } from './requests.ts'

const refusal = (reading: () => unknown) =>
  Promise.resolve()
    .then(reading)
    .then(String, (error: unknown) => error)

const required = new io.PandasDataFrame({ required: ['age', 'income'] })
const json = 'application/json'
const missing = 'expected column "income" for PandasDataFrame, received columns "age", "in"'

const whole = frameOf([
  ['income', 'float64', [1.5]],
  ['age', 'int64', [3n]],
])
const partial = frameOf([
  ['age', 'int64', [3n]],
  ['in', 'float64', [1.5]],
])
const nested = pl
  .DataFrame({ age: [3], in: [1.5] })
  .withColumns(pl.concatList(['age', 'age']).alias('in'))

const tableOf = (data: string, name: string) => {
  const fields = ['age', name].map((field) => ({ name: field, type: 'integer' }))
  return `{"schema":${JSON.stringify({ fields })},"data":${data}}`
}

describe('required columns', () => {
  it.each([
    ['records', '[{"age":3,"in":1}]', '[{"age":3},{"income":1}]'],
    ['index', '{"r":{"age":3,"in":1}}', '{"r":{"income":3,"age":1}}'],
    ['columns', '{"age":{"r":3},"in":{"r":3}}', '{"income":{"r":3},"age":{"r":3}}'],
    [
      'split',
      '{"columns":["age","in"],"data":[[1,2]]}',
      '{"columns":["income","x","age"],"data":[[1,2,3]]}',
    ],
    ['table', tableOf('[{"age":1,"in":2}]', 'in'), tableOf('[]', 'income')],
  ] as const)('must be there in orient %s', async (orient, bad, good) => {
    const descriptor = new io.PandasDataFrame({ required: ['age', 'income'], orient })
    expect(
      await refusal(async () => descriptor.fromHttpRequest(requestOf(bad, json))),
    ).toMatchObject({
      code: 'bad_input',
      reason: 'columns',
      message: missing,
    })
    expect((await descriptor.fromHttpRequest(requestOf(good, json))).columns).toContain('income')
  })

  it.each([
    ['CSV', 'age,in\n1,2\n', 'text/csv'],
    ['Parquet', polars.writeParquet(partial), 'application/octet-stream'],
    ['Parquet with lists', nested.writeParquet(), 'application/octet-stream'],
  ])('must be there in %s', async (_, body, type) => {
    const received = await refusal(async () => required.fromHttpRequest(requestOf(body, type)))
    expect(received).toMatchObject({ reason: 'columns', message: missing })
  })

  it('must be there in Arrow files and messages', async () => {
    const message = await new io.PandasDataFrame().toProto(partial)
    for (const body of [polars.writeIpc(partial), message]) {
      expect(await refusal(async () => required.fromProto(body))).toMatchObject({
        message: missing,
      })
    }
    for (const body of [polars.writeIpc(whole), await new io.PandasDataFrame().toProto(whole)]) {
      expect((await required.fromProto(body)).columns).toEqual(['income', 'age'])
    }
  })

  it('are those of dtype where it is enforced, and not otherwise', async () => {
    const dtype = { age: 'int64', income: 'float64' }
    const read = (enforceDtype: boolean, body: string) => () =>
      Promise.resolve(
        new io.PandasDataFrame({ dtype, enforceDtype }).fromHttpRequest(requestOf(body, json)),
      )
    expect(await refusal(read(true, '[{"age":3,"in":1}]'))).toMatchObject({ message: missing })
    expect((await read(false, '[{"age":3,"in":1}]')()).columns).toEqual(['age', 'in'])
    expect(await refusal(read(true, '[]'))).toMatchObject({
      message: 'expected column "age" for PandasDataFrame, received no columns',
    })
  })

  it('may be named as they are sent or as they are renamed', async () => {
    const renaming = { columns: ['a', 'b'], applyColumnNames: true }
    const read = (names: string[], body: string) =>
      new io.PandasDataFrame({ ...renaming, required: names }).fromHttpRequest(
        requestOf(body, json),
      )
    expect((await read(['a'], '[{"x":1,"y":2}]')).columns).toEqual(['a', 'b'])
    expect((await read(['x'], '[{"x":1,"y":2}]')).columns).toEqual(['a', 'b'])
    expect(await refusal(async () => read(['x'], '[{"z":1,"y":2}]'))).toMatchObject({
      reason: 'columns',
    })
  })

  it('are in the schema where it names columns', () => {
    const schemaOf = (orient: 'records' | 'index' | 'columns' | 'split') =>
      new io.PandasDataFrame({ required: ['a', 'b'], orient }).describe().input[0].schema
    expect(schemaOf('records')).toMatchObject({ items: { required: ['a', 'b'] } })
    expect(schemaOf('index')).toMatchObject({ additionalProperties: { required: ['a', 'b'] } })
    expect(schemaOf('columns')).toMatchObject({ required: ['a', 'b'] })
    const implied = new io.PandasDataFrame({ dtype: { a: 'int64' }, enforceDtype: true }).describe()
    expect(implied.input[0]).toMatchObject({
      schema: { items: { required: ['a'] } },
      example: [{ a: 0 }, { a: 1 }],
    })
    expect(implied.output[0].schema).not.toMatchObject({ items: { required: ['a'] } })
  })
})
