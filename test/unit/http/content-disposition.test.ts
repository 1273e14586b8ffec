import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseContentDisposition } from '../../../src/http/content-disposition.ts'

describe('a Content-Disposition as browsers write it', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'é', ' ', ';', '=', "'", '/', '\\', '%', '22', '.', '\t'),
  })

  it('says what the same one with other blanks says', () => {
    fc.assert(
      fc.property(text, fc.option(text), (name, filename) => {
        const file = filename === null ? '' : `; filename="${filename}"`
        const value = `form-data; name="${name}"${file}`
        // A second blank takes it past the short cut.
        expect(parseContentDisposition(value)).toEqual(
          parseContentDisposition(value.replace(';', ' ;')),
        )
      }),
      { numRuns: 2000 },
    )
  })
})
