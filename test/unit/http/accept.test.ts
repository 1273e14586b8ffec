import { describe, expect, it } from 'vitest'
import { preferredType } from '../../../src/http/accept.ts'

const offered = ['application/json', 'text/csv', 'application/vnd.apache.parquet']

describe('preferredType', () => {
  it.each([
    ['text/csv', 'text/csv'],
    ['application/json, text/csv;q=0.9', 'application/json'],
    ['application/json;q=0.8, text/csv;q=0.9', 'text/csv'],
    ['image/png', undefined],
    ['', undefined],
    // A range of all types leaves the choice to the caller, whose default is the first offer.
    ['*/*', 'application/json'],
    ['text/csv;q=0.5, */*', 'application/json'],
    ['text/csv;q=0.5, */*;q=0.1', 'text/csv'],
    // Ranges of a type.
    ['text/*', 'text/csv'],
    ['application/*', 'application/json'],
    ['text/*;q=0.3, application/*;q=0.2', 'text/csv'],
    ['TEXT/*', 'text/csv'],
    // The most specific range counts, whatever its place and weight.
    ['application/json;q=0, */*', 'text/csv'],
    ['application/json;q=0, application/*', 'application/vnd.apache.parquet'],
    ['application/*, application/json;q=0.1, text/csv;q=0.5', 'application/vnd.apache.parquet'],
    ['*/*;q=0', undefined],
    ['text/*;q=0, text/csv', 'text/csv'],
    ['application/json;q=0', undefined],
    ['application/json;q=2, text/csv', 'text/csv'],
    ['"a,b", text/csv', 'text/csv'],
    ['text/html;level="a,\\",b", text/csv;q=0.1', 'text/csv'],
    ['text/html;level="a, text/csv', undefined],
    [',, text/csv ,', 'text/csv'],
  ])('%j: %j', (accept, type) => {
    expect(preferredType(accept, offered)).toBe(type)
  })

  it('reads a long hostile value at once, where the square of its length would take minutes', () => {
    expect(preferredType(`"${'\\"'.repeat(1_000_000)}`, offered)).toBeUndefined()
  })
})
