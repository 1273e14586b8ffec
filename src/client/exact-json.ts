/** Prints a value, bigints as integers. `indent`: as that of JSON.stringify. */
export function printJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? 'null'
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  // The digits are set in place of a text that no value contains: a bigint cannot be printed by a replacer.
  const mark = newMark()
  const text = JSON.stringify(
    value,
    (_, each) => (typeof each === 'bigint' ? `${mark}${each}` : each),
    indent,
  )
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
}

/** Random, so that no value has it. Not `randomUUID`, which browsers have only over TLS and on the own machine. */
function newMark(): string {
  return `bigint-${crypto.getRandomValues(new Uint32Array(4)).join('')}-`
}

/** A string or a whole number, so that digits within them are not taken for integers. */
const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/**
 * Parses JSON text; integers beyond ±2^53 are bigints.
 *
 * @throws SyntaxError.
 */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  const mark = newMark()
  let isWide = false
  const marked = text.replace(token, (found) => {
    if (!/^-?\d{16,}$/.test(found) || Number.isSafeInteger(Number(found))) return found
    isWide = true
    return `"${mark}${found}"`
  })
  if (!isWide) return JSON.parse(text)
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}
