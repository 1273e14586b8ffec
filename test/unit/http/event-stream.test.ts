import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadOutput } from '../../../src/core/errors.ts'
import { encodeEvent } from '../../../src/http/event-stream.ts'

describe('encodeEvent', () => {
  it('writes each field on its line and each line of data on its own', () => {
    expect(encodeEvent({ data: 'a\nb\r\nc\rd', event: 'tick', id: '7', retry: 10 })).toBe(
      'event: tick\nid: 7\nretry: 10\ndata: a\ndata: b\ndata: c\ndata: d\n\n',
    )
    expect(encodeEvent({ data: '' })).toBe('data: \n\n')
  })

  it.each([
    { data: 'x', event: 'a\nb' },
    { data: 'x', event: 'a\rb' },
    { data: 'x', id: 'a\nb' },
    { data: 'x', id: 'a\0b' },
    { data: 'x', retry: -1 },
    { data: 'x', retry: 1.5 },
    { data: 5 as unknown as string },
    { data: 'x', event: 5 as unknown as string },
  ])('refuses %j', (event) => {
    expect(() => encodeEvent(event)).toThrow(BadOutput)
  })

  it('is one event to a reader, with the same data, whatever the data is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (data) => {
        const text = encodeEvent({ data })
        expect(text.indexOf('\n\n')).toBe(text.length - 2)
        const lines = text.slice(0, -2).split('\n')
        expect(lines.every((line) => line.startsWith('data: '))).toBe(true)
        expect(lines.map((line) => line.slice(6)).join('\n')).toBe(data.replace(/\r\n|\r/g, '\n'))
      }),
    )
  })
})
