import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { CapturedRow } from '../../src/capture/read-rows.ts'
import { BinaryFile, io, type Service } from '../../src/index.ts'
import { rowsOf, startCapture } from './harness.ts'

const picture = new Uint8Array(
  readFileSync(new URL('../fixtures/images/grey.png', import.meta.url)),
)
const user = z.looseObject({ id: z.number(), email: z.string().optional() })

/** Has its members in a way of its own, as classes of services do. */
class Account {
  readonly #email = 'secret'

  toJSON() {
    return { id: 1, email: this.#email }
  }
}

function define(svc: Service): void {
  const text = new io.Text()
  const json = new io.JSON()
  svc.api({ input: json, output: text, name: 'json' }, () => 'done')
  svc.api({ input: new io.JSON({ schema: user }), output: text, name: 'schema' }, () => 'done')
  svc.api({ input: json, output: json, name: 'account' }, () => ({
    one: new Account(),
    all: new Map([['ann', { email: 'secret', id: 2 }]]),
  }))
  svc.api({ input: text, output: text, name: 'text' }, () => 'done')
  svc.api({ input: new io.PandasDataFrame(), output: text, name: 'frame' }, () => 'done')
  const labelled = new io.PandasDataFrame({ orient: 'split' })
  svc.api({ input: labelled, output: text, name: 'labelled' }, () => 'done')
  const form = new io.Multipart({ users: io.many(json), picture: new io.Image() })
  svc.api({ input: form, output: text, name: 'form' }, () => 'done')
  svc.api({ input: new io.File(), output: new io.File(), name: 'file' }, () => {
    return new BinaryFile(Buffer.from('secret'), { name: 'secret', mimeType: 'text/x-a' })
  })
  const spooled = new io.File({ spoolAboveBytes: 0 })
  svc.api({ input: spooled, output: text, name: 'spooled' }, async (file) => {
    let size = 0
    for await (const piece of file.stream()) size += piece.length
    return `${size} bytes`
  })
  svc.api({ input: json, output: text, name: 'large' }, () => 'done')
  svc.api({ input: json, output: json, name: 'messages' }, function* messages() {
    yield { email: 'secret' }
  })
  svc.api({ input: json, output: text, name: 'fails' }, (value) => {
    throw new Error(`no such user: ${JSON.stringify(value)}`)
  })
}

/** Records calls with the value `secret` in many places, and returns the row of each. */
async function recorded(redact: readonly string[]): Promise<Record<string, CapturedRow>> {
  const server = await startCapture(define, { redact, maxBytes: 5_000 })
  const { post, path, listener } = server
  const person = { email: 'secret', id: 1 }
  await post('json', { users: [person, [person]], text: JSON.stringify(person), '0': person })
  await post('schema', { ...person, by: { ann: person } })
  await post('account', 1)
  await post('text', JSON.stringify(person), { 'content-type': 'text/plain' })
  const index = ['secret', 'x']
  await post('frame', [{ email: 'secret', user: JSON.stringify(person), id: 1 }])
  await post('labelled', { columns: ['id'], index, data: [[1], [2]] })
  const form = new FormData()
  for (const each of [person, { id: 2, email: 'secret' }])
    form.append('users', new Blob([JSON.stringify(each)], { type: 'application/json' }))
  form.set('picture', new Blob([picture], { type: 'image/png' }))
  await post('form', form)
  await post('file', new Uint8Array(5_001), { 'content-type': 'text/x-a' })
  await post('spooled', new Uint8Array(300_000), { 'content-type': 'text/x-a' })
  await post('large', { email: 'secret', text: 'x'.repeat(5_000) })
  await (await post('messages', 1)).text()
  await post('fails', person)
  await listener.close()
  const rows: Record<string, CapturedRow> = {}
  for (const api of readdirSync(path)) [rows[api]] = await rowsOf(join(path, api))
  expect(Object.keys(rows)).toHaveLength(12)
  return rows
}

const shown = (row: CapturedRow) =>
  JSON.stringify(row, (_, value) => (value?.type === 'Buffer' ? String(Buffer.from(value)) : value))

describe('what redact names', () => {
  it.each([
    ['with a name for each level', ['users.email', 'users.0.email', 'by.ann.email', '0.email']],
    ['with * for any name', ['*.email', 'users.*.email', 'by.*.email']],
  ])('is not written, %s', async (_, paths) => {
    const inputs = ['email', 'text.email', 'user.email', 'picture.bytes', 'bytes', ...paths]
    const outputs = ['email', 'one.email', 'all.*.email', 'bytes', 'name']
    const index = 'input.__index_level_0__'
    const redact = [
      index,
      ...inputs.map((path) => `input.${path}`),
      ...outputs.map((path) => `output.${path}`),
    ]
    const rows = await recorded(redact)
    for (const row of Object.values(rows)) expect(shown(row)).not.toContain('secret')
    expect(rows.json.input).toBe('{"0":{"id":1},"users":[{"id":1},[{"id":1}]]}')
    expect(rows.schema).toMatchObject({ 'input.id': 1, input: '{"by":{"ann":{"id":1}}}' })
    expect(rows.account.output).toBe('{"one":{"id":1},"all":{"ann":{"id":2}}}')
    expect(rows.text).toMatchObject({ redacted: ['input'], output: 'done' })
    expect(rows.frame).toMatchObject({ 'input.id': [1], redacted: ['input.email', 'input.user'] })
    expect(rows.labelled).toMatchObject({ 'input.id': [1, 2], redacted: [index] })
    expect(rows.form).toMatchObject({
      'input.users.0': '{"id":1}',
      'input.users.1': '{"id":2}',
      'input.picture.type': 'image/png',
    })
    expect(rows.form['input.picture.bytes']).toBeUndefined()
    expect(rows.file).toMatchObject({ 'input.type': 'text/x-a', 'output.type': 'text/x-a' })
    // A hash would tell which of a few values it was.
    for (const name of ['input.sha256', 'output.sha256'])
      for (const row of [rows.file, rows.spooled, rows.large, rows.messages])
        expect(row[name]).toBeUndefined()
    expect(rows.fails).toMatchObject({ status: 500, error: 'function_error', input: '{"id":1}' })
  })

  it('leaves all else, also what is numbered', async () => {
    const rows = await recorded(['input.users.email', 'output.0'])
    // It may have what is named.
    expect(rows.text).toMatchObject({ redacted: ['input'] })
    expect(rows.json.input).toContain('"users":[{"id":1},[{"id":1}]]')
    expect(rows.json.input).toContain('"0":{"email":"secret","id":1}')
    expect(rows.frame['input.email']).toEqual(['secret'])
    expect(rows.account.output).toContain('"all":{"ann":{"email":"secret","id":2}}')
    expect(rows.form).toMatchObject({ 'input.users.0': '{"id":1}' })
    expect(Buffer.from(picture).equals(rows.form['input.picture.bytes'] as Buffer)).toBe(true)
  })
})
