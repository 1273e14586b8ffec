/**
 * Numbers ⇄ their decimal text.
 * @module
 */

/** Powers of ten, correctly rounded (exact up to 10^22); 10^60 is more than any float32 needs. */
const powersOfTen = Float64Array.from({ length: 61 }, (_, exponent) => Number(`1e${exponent}`))

interface ByteText {
  latin1Slice(this: Uint8Array, start: number, end: number): string
}
const { latin1Slice } = Buffer.prototype as unknown as ByteText

/** Decodes ASCII. **Cost**: one copy; the caller must know that all bytes are below 0x80. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(bytes, start, end)
}

/** What {@link scanNumber} found; one object for all calls, since a scan makes no garbage. */
export const scanned = {
  /** The double nearest to the token; infinite when it overflows. */
  value: 0,
  /** Whether the token has neither fraction nor exponent. */
  integer: false,
  /** For an integer token: whether `value` is exactly the integer, which holds up to ±2^53. */
  exact: false,
}

/**
 * Parses a JSON number token as the nearest double, bit for bit as JSON.parse.
 * Answers the offset behind the token, or -1 when there is no whole number there; details are in {@link scanned}.
 * **Cost**: no allocation up to 15 significant digits and |exponent| ≤ 22, otherwise one string.
 */
export function scanNumber(json: Uint8Array, start: number, end: number): number {
  let pos = start
  const negative = json[pos] === 0x2d
  if (negative) pos++
  let mantissa = 0
  let digits = 0
  const first = pos
  while (pos < end && json[pos] >= 0x30 && json[pos] <= 0x39) {
    mantissa = mantissa * 10 + (json[pos++] - 0x30)
    // Leading zeros are only allowed as the single digit of 0.5, so that counting from the first one is enough.
    if (json[first] === 0x30) break
  }
  if (pos === first) return -1
  digits = pos - first
  let exponent = 0
  let integer = true
  if (pos < end && json[pos] === 0x2e) {
    integer = false
    const point = ++pos
    while (pos < end && json[pos] >= 0x30 && json[pos] <= 0x39) mantissa = mantissa * 10 + (json[pos++] - 0x30)
    if (pos === point) return -1
    exponent = point - pos
    digits += pos - point
  }
  if (pos < end && (json[pos] | 0x20) === 0x65) {
    integer = false
    pos++
    const minus = pos < end && json[pos] === 0x2d
    if (minus || (pos < end && json[pos] === 0x2b)) pos++
    const power = pos
    let written = 0
    // Beyond 9999 the sum is only compared, never used; the cap keeps it a small integer.
    while (pos < end && json[pos] >= 0x30 && json[pos] <= 0x39) {
      written = Math.min(9999, written * 10 + (json[pos++] - 0x30))
    }
    if (pos === power) return -1
    exponent += minus ? -written : written
  }
  scanned.integer = integer
  // Clinger's fast path: both operands are exact doubles, so the one rounding of * or / is the right one.
  if (digits <= 15 && exponent >= -22 && exponent <= 22) {
    const value = exponent < 0 ? mantissa / powersOfTen[-exponent] : mantissa * powersOfTen[exponent]
    scanned.value = negative ? -value : value
    scanned.exact = integer
    return pos
  }
  const text = asciiText(json, start, pos)
  const value = Number(text)
  scanned.value = value
  // 2^53 + 1 also rounds to 2^53: only the text tells them apart.
  scanned.exact =
    integer && (Math.abs(value) < 2 ** 53 || (Math.abs(value) === 2 ** 53 && text.endsWith('9007199254740992')))
  return pos
}

/** Converts a double to float16 bits: nearest, ties to even, as numpy; 0x7c00 and above 0x7bff mean infinity or NaN. */
export function numberToFloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7e00
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24)
  const exponent = exponentOf(size)
  // A carry out of the mantissa runs into the exponent field, which is just what rounding up to the next power asks
  // for.
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

/** Rounds halves to the even neighbour, as Python's `round` does. */
export function roundEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}

const doubleCell = new Float64Array(1)
const wordCells = new Uint32Array(doubleCell.buffer)
/** Index of the word that holds sign and exponent; this is how the byte order of the machine shows. */
export const highWord = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0

/** floor(log2(value)) of a positive normal double. */
function exponentOf(value: number): number {
  doubleCell[0] = value
  return (wordCells[highWord] >>> 20) - 1023
}

/**
 * Returns the shortest text of a finite number that reads back as the same float64, float32 or float16, in JavaScript's
 * layout, with `.0` on integral values that have no exponent. **Units**: `width` is the size of an element in bytes.
 */
export function floatText(value: number, width: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const shown = width === 8 ? value : shortest(value, width)
  return Number.isInteger(shown) && Math.abs(shown) < 1e21 ? `${shown}.0` : String(shown)
}

/** Returns the decimal of the fewest digits that is the same float32 or float16; of several, the nearest. */
function shortest(value: number, width: number): number {
  const readsBack =
    width === 4
      ? (decimal: number) => Math.fround(decimal) === value
      : (decimal: number) => float16ToNumber(numberToFloat16(decimal)) === value
  const size = Math.abs(value)
  // The commonest numbers of all: of at most five decimals and six digits.
  const short = Math.round(value * 1e5) / 1e5
  if (width === 4 && size >= 1e-5 && size < 10 && readsBack(short)) return short
  const isNormal = size >= (width === 4 ? 2 ** -126 : 2 ** -14)
  // Decimals of so many digits are all distinct among normal numbers; 9 digits always read back.
  for (let digits = !isNormal ? 1 : width === 4 ? 6 : 3; digits < 9; digits++) {
    const near = nearestDecimal(value, digits)
    if (readsBack(near)) return near
    // Below a power of two numbers lie twice as close, so that the next decimal above may read back.
    if (!Number.isInteger(Math.log2(size))) continue
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e')
    const next = decimalOf(BigInt(mantissa.replace('.', '')) + (value < 0 ? -1n : 1n), Number(exponent) - digits + 1)
    if (readsBack(next)) return next
  }
  return Number(value.toPrecision(9))
}

/** Returns the decimal of so many digits that is nearest to a number; between two, the one with an even last digit. */
function nearestDecimal(value: number, digits: number): number {
  const [mantissa, exponent] = value.toExponential(digits).split('e')
  if (mantissa.endsWith('5') && Number(`${mantissa}e${exponent}`) === value) {
    const exact = value.toExponential(100).replace(/e.*|[-.]/g, '')
    const below = BigInt(mantissa.replace('.', '')) / 10n
    if (/^50*$/.test(exact.slice(digits)) && below % 2n === 0n) return decimalOf(below, Number(exponent) - digits + 1)
  }
  return Number(value.toPrecision(digits))
}

function decimalOf(digits: bigint, exponent: number): number {
  return Number(`${digits}e${exponent}`)
}

/** Widest text that {@link writeFloat} prints. **Units**: bytes. */
export const maxFloatBytes = 26

/**
 * Writes the shortest text of a finite number that reads back as the same float64, float32 or float16 into `out` at
 * `pos`. Layout is JavaScript's, with `.0` on integral values that have no exponent. Answers the offset behind the
 * text.
 * **Units**: `width` is the element's size in bytes: 8, 4 or 2.
 */
export function writeFloat(out: Uint8Array, pos: number, value: number, width: number): number {
  if (value < 0 || (value === 0 && 1 / value < 0)) {
    out[pos++] = 0x2d
    value = -value
  }
  if (value < 1e6 && value === Math.floor(value)) {
    // Below 10^3 every width has all integers; above that float16 prints fewer digits and pads with zeros.
    if (width !== 2 || value < 1000) {
      pos = writeDigits(out, pos, value)
      out[pos++] = 0x2e
      out[pos++] = 0x30
      return pos
    }
  } else if (width !== 2 && value >= 1e-5 && value < 20000) {
    // At most 5 decimals: when so short a text reads back as the value, none is shorter but for its zeros. The
    // commonest case of all in request bodies, 5 times faster than Number's own printing.
    const scaled = Math.round(value * 1e5)
    const short = scaled / 1e5
    if (width === 8 ? short === value : scaled < 1e6 && Math.fround(short) === value) {
      return writeHundredThousandths(out, pos, scaled)
    }
  }
  if (width === 8) return writeDouble(out, pos, value)
  return writeNarrow(out, pos, value, width)
}

/** Writes `count` ÷ 10^5 without zeros at its end; `count` is below 2^31 and no multiple of 10^5. */
function writeHundredThousandths(out: Uint8Array, pos: number, count: number): number {
  const whole = (count / 100_000) | 0
  if (whole < 10) out[pos++] = 0x30 + whole
  else pos = writeDigits(out, pos, whole)
  out[pos++] = 0x2e
  let rest = (count | 0) - whole * 100_000
  for (let unit = 10_000; rest !== 0; unit = (unit / 10) | 0) {
    const digit = (rest / unit) | 0
    out[pos++] = 0x30 + digit
    rest -= digit * unit
  }
  return pos
}

function writeDouble(out: Uint8Array, pos: number, value: number): number {
  const text = String(value)
  for (let i = 0; i < text.length; i++) out[pos++] = text.charCodeAt(i)
  if (value < 1e21 && value === Math.floor(value)) {
    out[pos++] = 0x2e
    out[pos++] = 0x30
  }
  return pos
}

/**
 * float32 and float16: the fewest digits that read back, the nearest such decimal. Decimals of up to 6 (float32) or 3
 * (float16) digits are all distinct among normal numbers, so the search starts there; subnormal ones have less
 * precision and start at 1 digit. Checked against std::to_chars over every float32 and every float16.
 */
function writeNarrow(out: Uint8Array, pos: number, value: number, width: number): number {
  const binary = exponentOf(value)
  let exponent = Math.floor(binary * 0.30102999566398)
  if (value >= powerOfTen(exponent + 1)) exponent++
  const single = width === 4
  for (let digits = binary >= (single ? -126 : -14) ? (single ? 6 : 3) : 1; ; digits++) {
    const scale = exponent + 1 - digits
    const scaled = roundScaled(value, scale <= 0 ? value * powersOfTen[-scale] : value / powersOfTen[scale])
    // 9 digits always read back; the bound is there so that no arithmetic slip can hang a server.
    if (digits === 9 || readsBack(scaled, scale, value, single)) return writeDecimal(out, pos, scaled, scale)
    // Below a power of two floats lie twice as close, so that the next decimal above may read back where the nearest
    // does not.
    if (value === 2 ** binary && readsBack(scaled + 1, scale, value, single)) {
      return writeDecimal(out, pos, scaled + 1, scale)
    }
  }
}

/**
 * `scaled` is `value` times a power of ten, but for an error in the last bits; the exact product is rounded, ties to
 * even.
 */
function roundScaled(value: number, scaled: number): number {
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  // Below 10^9 the error is smaller than this; outside of it the side is sure.
  if (Math.abs(rest - 0.5) > 1e-6) return rest > 0.5 ? floor + 1 : floor
  const exact = value.toPrecision(100).replace(/e.*/, '').replace('.', '').replace(/^0+/, '')
  const tail = exact.slice(floor === 0 ? 0 : digitCount(floor))
  if (tail[0] < '5') return floor
  return /^50*$/.test(tail) && floor % 2 === 0 ? floor : floor + 1
}

function readsBack(digits: number, exponent: number, value: number, single: boolean): boolean {
  const back = exponent <= 0 ? digits / powersOfTen[-exponent] : digits * powersOfTen[exponent]
  return (single ? Math.fround(back) : float16ToNumber(numberToFloat16(back))) === value
}

function powerOfTen(exponent: number): number {
  return exponent >= 0 ? powersOfTen[exponent] : 1 / powersOfTen[-exponent]
}

/** `digits` × 10^`exponent` in JavaScript's layout (ECMA-262, Number::toString) with `.0` on integral values. */
function writeDecimal(out: Uint8Array, pos: number, digits: number, exponent: number): number {
  while (digits % 10 === 0) {
    digits /= 10
    exponent++
  }
  const count = digitCount(digits)
  const point = count + exponent
  if (point > 21 || point < -5) {
    const whole = powersOfTen[count - 1]
    const first = Math.floor(digits / whole)
    out[pos++] = 0x30 + first
    if (count > 1) {
      out[pos++] = 0x2e
      pos = writePadded(out, pos, digits - first * whole, count - 1)
    }
    out[pos++] = 0x65
    out[pos++] = point > 0 ? 0x2b : 0x2d
    return writeDigits(out, pos, Math.abs(point - 1))
  }
  if (exponent >= 0) {
    pos = writeDigits(out, pos, digits)
    for (let i = 0; i < exponent; i++) out[pos++] = 0x30
    out[pos++] = 0x2e
    out[pos++] = 0x30
    return pos
  }
  if (point <= 0) {
    out[pos++] = 0x30
    out[pos++] = 0x2e
    return writePadded(out, pos, digits, -exponent)
  }
  const unit = powersOfTen[-exponent]
  const whole = Math.floor(digits / unit)
  pos = writeDigits(out, pos, whole)
  out[pos++] = 0x2e
  return writePadded(out, pos, digits - whole * unit, -exponent)
}

function digitCount(value: number): number {
  let count = 1
  while (value >= powersOfTen[count]) count++
  return count
}

/** Writes the digits of a whole number from 0 to 2^53; returns the offset behind them. */
export function writeDigits(out: Uint8Array, pos: number, value: number): number {
  return writePadded(out, pos, value, value < 10 ? 1 : digitCount(value))
}

function writePadded(out: Uint8Array, pos: number, value: number, count: number): number {
  // Above 2^31 the remainder below would leave the small integers; such numbers are rare enough to go by halves.
  if (value >= 1e9) {
    const high = Math.floor(value / 1e8)
    pos = writePadded(out, pos, high, count - 8)
    return writePadded(out, pos, value - high * 1e8, 8)
  }
  let rest = value | 0
  for (let i = pos + count - 1; i >= pos; i--) {
    const next = (rest / 10) | 0
    out[i] = 0x30 + (rest - next * 10)
    rest = next
  }
  return pos + count
}

/**
 * Writes a finite double as Python's `repr`: JavaScript's digits, with exponents below -4 and from 16 up, of two digits
 * at least.
 */
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
  return Number.isInteger(value) ? `${value}.0` : String(value)
}
