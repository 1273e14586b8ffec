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

  it('takes a time that grows with the length of a hostile value, not with its square', () => {
    // Relative: 32 times the text may take some 32 times as long, a quadratic split takes 1,024 times.
    const timeOf = (count: number) => {
      const value = `"${'\\"'.repeat(count)}`
      let best = Number.POSITIVE_INFINITY
      for (let round = 0; round < 5; round++) {
        const start = process.hrtime.bigint()
        preferredType(value, offered)
        best = Math.min(best, Number(process.hrtime.bigint() - start))
      }
      return best
    }
    timeOf(500)
    expect(timeOf(16_000) / timeOf(500)).toBeLessThan(200)
  })
})
