/** Columns of times ⇄ text and numbers. @module */
import { latin1Text } from '../../core/platform.ts'
import {
  bytesAt,
  type CastFailure,
  type Column,
  castCells,
  cellsOf,
  columnOf,
  numberReader,
  type TimeType,
  type TimeUnit,
} from './columns.ts'
import { zoneClock } from './zone-clock.ts'

/** Forms of times in JSON, as pandas' `date_format` and `date_unit` name them. */
export interface TimeForm {
  /** `epoch`: numbers since 1970; `iso`: ISO 8601, UTC for a zone; `exact`: the same with the column's digits. */
  readonly format: 'epoch' | 'iso' | 'exact'
  /** Of the numbers, or of the last digit of `iso`. */
  readonly unit: TimeUnit
}

/** Names of the forms that JSON has. */
export const timeFormats = ['epoch', 'iso'] as const

/** Texts with all digits: the form of times beside JSON. */
export const exactTimes: TimeForm = { format: 'exact', unit: 'ns' }

const perSecond: Readonly<Record<TimeUnit, bigint>> = {
  s: 1n,
  ms: 1_000n,
  us: 1_000_000n,
  ns: 1_000_000_000n,
}
const digits: Readonly<Record<TimeUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 }
const daySeconds = 86_400n

/**
 * Times of day are always text.
 *
 * @returns a column of times as numbers or text.
 */
export function printTimes(column: Column, rows: number, form: TimeForm): Column {
  const { time } = column
  if (time === undefined) return column
  const isEpoch = form.format === 'epoch' && time.type !== 'time'
  if (isEpoch && 'unit' in time && time.unit === form.unit) {
    const { time: _, ...numbers } = column
    return numbers
  }
  const read = numberReader(column)
  const print = isEpoch ? epochOf(time, form.unit) : textOf(time, form)
  const cells = cellsOf(column, rows, (row) => print(BigInt(read(row))))
  return columnOf(column.name, isEpoch ? 'int64' : 'str', cells)
}

function castTimes(
  column: Column,
  rows: number,
  time: TimeType,
  cast: (row: number) => bigint | undefined,
): Column | CastFailure {
  const made = castCells(column, rows, time.type === 'date' ? 'int32' : 'int64', (row) => {
    const value = cast(row)
    const isWhole = value !== undefined && BigInt.asIntN(64, value) === value
    if (isWhole) return value
    return undefined
  })
  if ('failure' in made) return made
  return { ...made, time }
}

/**
 * A local time becomes what the clock of a zone shows.
 *
 * @returns a column of times as times of another type: cut down to its unit, a date is its
 * midnight.
 */
export function convertTimes(column: Column, rows: number, time: TimeType): Column | CastFailure {
  const own = column.time as TimeType
  const isInstant = (type: TimeType) => type.type === 'date' || type.type === 'datetime'
  if (own.type !== time.type && !(isInstant(own) && isInstant(time)))
    return { failure: 'misfit', row: 0 }
  const localize = zoneOf(own) === undefined ? localizer(time) : undefined
  const isSame =
    own.type === time.type && (own.type === 'date' || own.unit === (time as typeof own).unit)
  if (isSame && localize === undefined) return { ...column, time }
  const read = numberReader(column)
  const convert = time.type === 'date' ? dayOf(own) : epochOf(own, time.unit, floorDivide)
  return castTimes(column, rows, time, (row) => {
    const value = convert(BigInt(read(row)))
    if (localize) return localize(value)
    return value
  })
}

function zoneOf(time: TimeType): string | undefined {
  if ('zone' in time) return time.zone
  return undefined
}

/**
 * @returns a function from what the clock of the type's zone shows to the instant; undefined for a
 * type without one.
 */
function localizer(time: TimeType): ((value: bigint) => bigint | undefined) | undefined {
  const zone = zoneOf(time)
  if (zone === undefined || time.type !== 'datetime') return undefined
  const scale = perSecond[time.unit]
  const offsetOf = zoneClock(zone)
  return (value) => {
    const offset = offsetOf(Number(floorDivide(value, scale)))
    if (offset === undefined) return undefined
    return value - BigInt(offset) * scale
  }
}

function dayOf(own: TimeType): (value: bigint) => bigint {
  const day = own.type === 'date' ? 1n : daySeconds * perSecond[own.unit]
  return (value) => floorDivide(value, day)
}

/** @returns the whole quotient at or below the exact one. */
export function floorDivide(value: bigint, by: bigint): bigint {
  return (value - (((value % by) + by) % by)) / by
}

/**
 * @returns a function from a time to its number of units. pandas 2.2 cuts down in casts, but toward
 * zero in JSON.
 */
function epochOf(
  time: TimeType,
  unit: TimeUnit,
  divide = (value: bigint, by: bigint) => value / by,
): (value: bigint) => bigint {
  if (time.type === 'date') return (value) => value * daySeconds * perSecond[unit]
  const [from, to] = [perSecond[time.unit], perSecond[unit]]
  if (to >= from) return (value) => value * (to / from)
  return (value) => divide(value, from / to)
}

function textOf(time: TimeType, form: TimeForm): (value: bigint) => string {
  const isExact = form.format === 'exact'
  if (time.type === 'date') {
    const midnight = isExact ? '' : `T00:00:00${fractionText(0n, 0, digits[form.unit])}`
    return (value) => `${dayText(value)}${midnight}`
  }
  const scale = perSecond[time.unit]
  const own = digits[time.unit]
  if (time.type === 'duration') return (value) => durationText(value, scale, own)
  if (time.type === 'time')
    return (value) => `${clockText(value / scale)}${shortFraction(value % scale, own)}`
  const shown = isExact ? own : digits[form.unit]
  const suffix = zoneOf(time) === undefined ? '' : 'Z'
  const day = daySeconds * scale
  return (value) => {
    const within = ((value % day) + day) % day
    const fraction = fractionText(within % scale, own, shown)
    return `${dayText((value - within) / day)}T${clockText(within / scale)}${fraction}${suffix}`
  }
}

function fractionText(value: bigint, places: number, shown: number): string {
  if (shown === 0) return ''
  return `.${value.toString().padStart(places, '0').padEnd(shown, '0').slice(0, shown)}`
}

/** @returns a day as `2020-01-31`; years of more digits have a sign, as in ISO 8601. */
function dayText(day: bigint): string {
  const text = new Date(Number(day) * 86_400_000)
  if (Number.isNaN(text.getTime())) return `day ${day}`
  return text.toISOString().slice(0, -14)
}

function clockText(seconds: bigint): string {
  const all = Number(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(Math.floor(all / 3600))}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`
}

/**
 * @returns a duration as pandas' `Timedelta.isoformat` writes it: `P1DT2H3M4.500S`; days alone
 * carry the sign.
 */
function durationText(value: bigint, scale: bigint, places: number): string {
  const day = daySeconds * scale
  const rest = ((value % day) + day) % day
  const seconds = Number(rest / scale)
  const clock = `${Math.floor(seconds / 3600)}H${Math.floor(seconds / 60) % 60}M${seconds % 60}`
  const groups = shortFraction(rest % scale, places, 3)
  return `P${(value - rest) / day}DT${clock}${groups}S`
}

/**
 * @returns the fraction of a second of a time of day or a duration as Python writes it: in groups
 * of three digits.
 */
function shortFraction(value: bigint, places: number, min = 6): string {
  if (value === 0n) return ''
  const text = value.toString().padStart(places, '0').padEnd(9, '0')
  const digits = text.replace(/0+$/, '').length
  return `.${text.slice(0, Math.max(min, 3 * Math.ceil(digits / 3)))}`
}

const datePart = String.raw`(\d{4})-(\d{2})-(\d{2})`
const clockPart = String.raw`(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?`
const datetime = new RegExp(`^${datePart}(?:[T ]${clockPart} ?(Z|z|[+-]\\d{2}(?::?\\d{2})?)?)?$`)
const clock = new RegExp(`^${clockPart}$`)
const amount = String.raw`([+-]?\d+(?:[.,]\d{1,9})?)`
// The last amount alone may have a fraction.
const isoDuration = new RegExp(
  `^([+-])?P(?!$|.*(?:T$|[.,]\\d+[A-Z].))(?:${amount}W)?(?:${amount}D)?` +
    `(?:T(?:${amount}H)?(?:${amount}M)?(?:${amount}S)?)?$`,
)
/** The texts of pandas' and Python's durations, in which a sign of the days is not one of the clock. */
const pandasDuration =
  /^(?!$)(?:([+-]?\d+) days?,?)?(?:(?:^([+-])?| \+?)(\d+):(\d{2}):(\d{2}(?:\.\d{1,9})?))?$/
const amountSeconds = [604_800n, daySeconds, 3_600n, 60n, 1n]

/**
 * Converts text to times: ISO 8601 and pandas' texts, up to nine digits of a fraction and an offset from UTC. An
 * instant with an offset is stored as UTC. One without is local: of a type with a zone, what the zone's clock shows.
 */
export function parseTimes(column: Column, rows: number, time: TimeType): Column | CastFailure {
  const read = readerOf(time)
  return castTimes(column, rows, time, (row) => {
    const bytes = bytesAt(column, row)
    if (bytes.length > 40) return undefined
    return read(latin1Text(bytes).trim())
  })
}

function readerOf(time: TimeType): (text: string) => bigint | undefined {
  if (time.type === 'time') return (text) => clockOf(clock.exec(text)?.slice(1), time.unit)
  if (time.type === 'duration') return (text) => durationOf(text, time.unit)
  const localize = localizer(time)
  return (text) => {
    const [, year, month, day, ...rest] = datetime.exec(text) ?? []
    if (year === undefined) return undefined
    const at = Date.UTC(2000, Number(month) - 1, Number(day))
    const date = new Date(at)
    // setUTCFullYear, since Date.UTC takes years below 100 as 19xx. A day that the month lacks moves the date.
    date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
    if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day))
      return undefined
    const days = BigInt(date.getTime() / 86_400_000)
    if (time.type === 'date') return rest[0] === undefined ? days : undefined
    const within = clockOf(rest.slice(0, 4), time.unit)
    const offset = offsetOf(rest[4])
    if (within === undefined || offset === undefined) return undefined
    const value = (days * daySeconds - offset) * perSecond[time.unit] + within
    if (rest[4] === undefined && localize !== undefined) return localize(value)
    return value
  }
}

/** @returns the time since midnight; digits beyond the unit are cut, as pandas does. */
function clockOf(
  parts: readonly (string | undefined)[] | undefined,
  unit: TimeUnit,
): bigint | undefined {
  if (parts === undefined) return undefined
  const [hour = '0', minute = '0', second = '0', fraction = ''] = parts
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const seconds = BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second))
  return seconds * perSecond[unit] + fractionOf(fraction, unit)
}

function fractionOf(text: string, unit: TimeUnit): bigint {
  return BigInt(text.padEnd(9, '0')) / (perSecond.ns / perSecond[unit])
}

/**
 * **Units**: seconds.
 *
 * @returns an offset from UTC; undefined if it is not one.
 */
function offsetOf(text: string | undefined): bigint | undefined {
  if (text === undefined || text === 'Z' || text === 'z') return 0n
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return undefined
  const seconds = BigInt(hours * 3600 + minutes * 60)
  if (text[0] === '-') return -seconds
  return seconds
}

function durationOf(text: string, unit: TimeUnit): bigint | undefined {
  const [iso, sign, ...amounts] = isoDuration.exec(text) ?? []
  if (iso !== undefined) return signed(sign, sumOf(amounts, unit))
  const [other, days, clockSign, ...clock] = pandasDuration.exec(text) ?? []
  if (other === undefined) return undefined
  return (
    sumOf([undefined, days], unit) +
    signed(clockSign, sumOf([undefined, undefined, ...clock], unit))
  )
}

/** Adds amounts of weeks, days, hours, minutes and seconds; digits beyond the unit are cut. */
function sumOf(amounts: readonly (string | undefined)[], unit: TimeUnit): bigint {
  let sum = 0n
  for (const [i, text] of amounts.entries()) {
    if (text === undefined) continue
    const [, sign, whole, fraction = ''] = /^([+-]?)(\d+)(?:[.,](\d+))?$/.exec(text) ?? []
    const scale = amountSeconds[i] * perSecond[unit]
    sum += signed(
      sign,
      BigInt(whole) * scale + (BigInt(fraction.padEnd(9, '0')) * scale) / perSecond.ns,
    )
  }
  return sum
}

function signed(sign: string | undefined, size: bigint): bigint {
  if (sign === '-') return -size
  return size
}
