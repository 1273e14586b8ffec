import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encodeRequest } from '../../src/messages/envelope.ts'
import type { ProtoContent } from '../../src/messages/messages.ts'
import { folder, serveFile } from '../cli/process.ts'

const service = `
import { io, Service } from 'serving'
const svc = new Service('memory')
const api = (name, input) => svc.api({ input, output: new io.Text(), name }, () => String(process.pid))
api('json', new io.JSON())
api('text', new io.Text())
api('array', new io.NumpyNdarray())
api('frame', new io.PandasDataFrame())
api('series', new io.PandasSeries())
api('form', new io.Multipart({ value: new io.JSON() }))
api('file', new io.File())
export default svc
`

const size = 24_000_000
const repeat = (element: string, around = '[]') =>
  around[0] + `${element},`.repeat(size / (element.length + 1)) + element + around.slice(1)
const part = (text: string) =>
  `--b\r\ncontent-disposition: form-data; name="value"\r\n\r\n${text}\r\n--b--\r\n`
const message = (name: string, content: ProtoContent) => encodeRequest(name, content)
const npyTexts = () => {
  const head = `{'descr': '<U8', 'fortran_order': False, 'shape': (${size / 32},), }`.padEnd(117)
  return Buffer.concat([
    Buffer.from(`\x93NUMPY\x01\x00\x76\x00${head}\n`, 'latin1'),
    Buffer.alloc(size, 'a\0\0\0'),
  ])
}
const status = (pid: number, key: string) =>
  Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) *
  1024

describe.skipIf(process.platform !== 'linux')(
  'one request takes at most 12 times its body in memory, or is refused',
  () => {
    it('with values that are as short as they can be', async () => {
      const { port } = await serveFile(`${folder({ 'service.mjs': service }, true)}/service.mjs`, [
        '--workers',
        '1',
      ])
      const post = async (path: string, type: string, body: string | Uint8Array) => {
        const headers = { 'content-type': type }
        const answer = await fetch(`http://127.0.0.1:${port}/${path}`, {
          method: 'POST',
          body: body as Uint8Array<ArrayBuffer>,
          headers,
        })
        return { status: answer.status, text: await answer.text() }
      }
      const json = 'application/json'
      const rpc = 'serving.v1.ServingService/Call'
      const proto = 'application/proto'
      const letters = (length: number, text: string) => Array.from({ length }, () => text)
      const bodies: [name: string, path: string, type: string, body: () => string | Uint8Array][] =
        [
          ['numbers', 'json', json, () => repeat('0')],
          ['empty objects', 'json', json, () => repeat('{}')],
          ['lists of one', 'json', json, () => repeat('[0]')],
          ['records', 'json', json, () => repeat('{"a":0,"b":"x"}')],
          [
            'a text',
            'text',
            'text/plain; charset=utf-16le',
            () => Buffer.from('é'.repeat(size / 2), 'utf16le'),
          ],
          ['an array of numbers', 'array', json, () => repeat('0')],
          ['an array of texts', 'array', json, () => repeat('"a"')],
          ['npy of texts', 'array', 'application/x-npy', npyTexts],
          ['frame of records', 'frame', json, () => repeat('{"a":0,"b":"x"}')],
          ['series of numbers', 'series', json, () => repeat('0')],
          ['series of texts', 'series', json, () => repeat('"a"')],
          ['a part', 'form', 'multipart/form-data; boundary=b', () => part(repeat('0'))],
          ['a file', 'file', 'application/octet-stream', () => Buffer.alloc(size)],
          [
            'short texts by RPC',
            rpc,
            proto,
            () =>
              message('array', {
                field: 'ndarray',
                message: { stringValues: letters(size / 4, 'ab') },
              }),
          ],
          [
            'a series of texts by RPC',
            rpc,
            proto,
            () =>
              message('series', {
                field: 'series',
                message: { stringValues: letters(size / 9, 'letters') },
              }),
          ],
          [
            'empty objects by RPC',
            rpc,
            proto,
            () =>
              message('json', {
                field: 'json',
                message: Array.from({ length: size / 4 }, () => ({})),
              }),
          ],
        ]
      const pid = Number((await post('text', 'text/plain', '')).text)
      // Loads what reads frames and series.
      for (const path of ['frame', 'series']) await post(path, json, '[]')
      for (const [name, path, type, make] of bodies) {
        const body = make()
        const before = status(pid, 'VmRSS')
        // Sets the peak back to what is resident.
        writeFileSync(`/proc/${pid}/clear_refs`, '5')
        const answer = await post(path, type, body)
        expect([200, 413, 429], `${name}: ${answer.text.slice(0, 200)}`).toContain(answer.status)
        const added = status(pid, 'VmHWM') - before
        expect(added, `${name}: added memory`).toBeLessThan(12 * body.length)
      }
    }, 120_000)
  },
)
