/** Numbers as texts of digits, and half floats. @module */

/**
 * @returns float16 bits: nearest, ties to even, as numpy; 0x7c00 and above 0x7bff mean infinity or
 * NaN.
 */
export function numberToFloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7e00
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24)
  const exponent = exponentOf(size)
  // A carry out of the mantissa raises the exponent, as rounding up to the next power requires.
  return sign | (((exponent + 14) << 10) + roundEven(size * 2 ** (10 - exponent)))
}

/** Converts float16 bits to the double of the same value. */
export function float16ToNumber(bits: number): number {
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  const sign = bits & 0x8000 ? -1 : 1
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** Rounds halves to the even neighbour, as Python's `round`. */
export function roundEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  if (rest > 0.5 || (rest === 0.5 && floor % 2 === 1)) return floor + 1
  return floor
}

const doubleCell = new Float64Array(1)
const wordCells = new Uint32Array(doubleCell.buffer)
/** Index of the word with sign and exponent. */
const [highWord] = new Uint8Array(Uint16Array.of(1).buffer)

/** floor(log2(value)) of a positive normal double. */
export function exponentOf(value: number): number {
  doubleCell[0] = value
  return (wordCells[highWord] >>> 20) - 1023
}

/**
 * @returns the shortest text that reads back as the same float of `width` bytes; integral values
 * end in `.0`.
 */
export function floatText(value: number, width: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const shown = width === 8 ? value : shortest(value, width)
  if (Number.isInteger(shown) && Math.abs(shown) < 1e21) return `${shown}.0`
  return String(shown)
}

/** @returns the shortest decimal that is the same float32 or float16; of several, the nearest. */
function shortest(value: number, width: number): number {
  const readsBack =
    width === 4
      ? (decimal: number) => Math.fround(decimal) === value
      : (decimal: number) => float16ToNumber(numberToFloat16(decimal)) === value
  const size = Math.abs(value)
  // Most numbers have at most five decimals and six digits.
  const short = Math.round(value * 1e5) / 1e5
  if (width === 4 && size >= 1e-5 && size < 10 && readsBack(short)) return short
  const [leastNormal, normalDigits] = width === 4 ? [2 ** -126, 6] : [2 ** -14, 3]
  // Normal numbers differ in so many digits; 9 digits always read back.
  for (let digits = size >= leastNormal ? normalDigits : 1; digits < 9; digits++) {
    const near = nearestDecimal(value, digits)
    if (readsBack(near)) return near
    // Below a power of two numbers are twice as close, so the next decimal above may read back.
    if (!Number.isInteger(Math.log2(size))) continue
    const text = value.toExponential(digits - 1)
    const [mantissa, exponent] = text.split('e')
    let above = BigInt(mantissa.replace('.', ''))
    // Of two that are equally near, the text may already be the one above.
    if (Math.abs(Number(text)) <= size) above += value < 0 ? -1n : 1n
    const next = decimalOf(above, Number(exponent) - digits + 1)
    if (readsBack(next)) return next
  }
  return Number(value.toPrecision(9))
}

/** @returns the nearest decimal of so many digits; of two, the one with an even last digit. */
function nearestDecimal(value: number, digits: number): number {
  const [mantissa, exponent] = value.toExponential(digits).split('e')
  if (mantissa.endsWith('5') && Number(`${mantissa}e${exponent}`) === value) {
    const exact = value.toExponential(100).replace(/e.*|[-.]/g, '')
    const below = BigInt(mantissa.replace('.', '')) / 10n
    if (/^50*$/.test(exact.slice(digits)) && below % 2n === 0n)
      return decimalOf(below, Number(exponent) - digits + 1)
  }
  return Number(value.toPrecision(digits))
}

function decimalOf(digits: bigint, exponent: number): number {
  return Number(`${digits}e${exponent}`)
}

/** Writes a finite double as Python's `repr`: exponents below -4 and from 16 up have two digits at least. */
export function pythonRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  // No argument: as many digits as needed, JavaScript's shortest.
  const [digits, power] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  if (Number.isInteger(value)) return `${value}.0`
  return String(value)
}
