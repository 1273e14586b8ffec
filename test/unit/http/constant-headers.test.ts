import { expect, it } from 'vitest'
import type { HeaderLine } from '../../../src/http/message.ts'
import { constantHeaders, headerBlockOf } from '../../../src/http/response-head.ts'

it('lays lines out behind the status', () => {
  const lines: HeaderLine[] = [
    ['content-type', 'text/plain'],
    ['vary', 'accept'],
    ['x-name', 'é'],
  ]
  const headers = constantHeaders(lines)
  expect(headers).toEqual(lines)
  expect(Buffer.from(headerBlockOf(headers) ?? new ArrayBuffer()).toString('latin1')).toBe(
    '200 OK\r\ncontent-type: text/plain\r\nvary: accept\r\nx-name: é',
  )
  expect(headerBlockOf(lines)).toBeUndefined()
})

it('keeps what was checked from being changed', () => {
  const lines: [string, string][] = [['content-type', 'text/plain']]
  const headers = constantHeaders(lines)
  lines[0][1] = 'a\r\nb: c'
  expect(headers).toEqual([['content-type', 'text/plain']])
  expect(() => (headers as HeaderLine[]).push(['a', 'b'])).toThrow(TypeError)
  expect(() => Object.assign(headers[0], { 1: 'b' })).toThrow(TypeError)
})

it.each([
  ['a line break', ['vary', 'a\r\nb: c']],
  ['a wrong name', ['va ry', 'accept']],
  ['a header of the server', ['content-length', '1']],
  ['a header of the request', ['x-request-id', '1']],
] as const)('refuses %s', (_, line) => {
  expect(() => constantHeaders([line])).toThrow('is not constant or cannot be sent')
})
