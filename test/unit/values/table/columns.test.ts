import { describe, expect, it } from 'vitest'
import { columnOf, textAt } from '../../../../src/values/table/columns.ts'
import { toSeriesTable } from '../../../../src/values/table/message.ts'

describe('a column of texts', () => {
  it.each([
    ['ASCII', ['ab', null, '', 'c'], ['ab', '', '', 'c']],
    ['other characters', ['é😀', null, 'c'], ['é😀', '', 'c']],
    ['halves of a pair, which stay apart', ['a\ud83d', '\ude00b'], ['a\ufffd', '\ufffdb']],
  ])('keeps each text, and gives it to a message: %s', (_, values, texts) => {
    const column = columnOf('t', 'str', values)
    expect(texts.map((_, row) => textAt(column, row))).toEqual(texts)
    const { stringValues } = toSeriesTable({
      table: { rows: texts.length, columns: [column] },
      labels: undefined,
    })
    expect(stringValues).toEqual(texts)
  })
})
