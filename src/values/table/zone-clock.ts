/** The clocks of time zones, as the runtime knows them. @module */

const day = 86_400
const offsetText = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/

/** When an offset changes, if it does. **Units**: seconds. */
interface Change {
  readonly before: number
  readonly after: number
  readonly at: number
}

/**
 * **Cost**: two formatted dates for each new day. **Units**: seconds.
 *
 * @returns a function from what a zone's clock shows, as seconds since 1970 without a zone, to the
 * zone's offset from UTC; undefined for an hour that the zone skips or has twice.
 */
export function zoneClock(zone: string): (shown: number) => number | undefined {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offsetAt = (second: number) => secondsOf(format.format(second * 1000))
  const changes = new Map<number, Change>()
  return (shown) => {
    const date = Math.floor(shown / day)
    const { before, after, at } = changes.get(date) ?? changeNear(date * day, offsetAt)
    changes.set(date, { before, after, at })
    if (shown < at + Math.min(before, after)) return before
    if (shown >= at + Math.max(before, after)) return after
    return undefined
  }
}

function secondsOf(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = offsetText.exec(text) ?? []
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  if (sign === '-') return -size
  return size
}

/**
 * Searches a day and those beside it: no zone has changed twice within six days.
 *
 * @see tz database 2025b.
 */
function changeNear(midnight: number, offsetAt: (second: number) => number): Change {
  let [low, high] = [midnight - day, midnight + 2 * day]
  const [before, after] = [offsetAt(low), offsetAt(high)]
  if (before === after) return { before, after, at: low }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === before) low = middle
    else high = middle
  }
  return { before, after, at: high }
}
