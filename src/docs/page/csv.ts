/**
 * Reads rows of CSV.
 *
 * @see RFC 4180; line ends may be LF alone.
 */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  const cell = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|\r|$)/y
  for (;;) {
    const found = cell.exec(text)
    if (found === null) throw new Error('The file is no CSV.')
    const [, quoted, plain, end] = found
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (cell.lastIndex >= text.length && end !== ',') return rows
    if (end !== ',') rows.push([])
  }
}

/**
 * @returns the values of a column of texts: numbers, truth values and nulls, unless one cell is
 * another text.
 */
export function columnOfTexts(texts: readonly string[]): (number | boolean | string | null)[] {
  const isExact = (text: string) => !/^-?\d+$/.test(text) || Number.isSafeInteger(Number(text))
  const isNumber = (text: string) =>
    /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) && isExact(text)
  const isPlain =
    texts.every((text) => text === '' || isNumber(text)) ||
    texts.every((text) => /^(|true|false)$/.test(text))
  return isPlain ? texts.map((text) => JSON.parse(text || 'null')) : [...texts]
}
