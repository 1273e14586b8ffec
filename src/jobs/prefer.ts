import type { RequestHeaders } from '../http/message.ts'

const respondAsync = /^respond-async\s*(?:;|$)/i

/**
 * Reads `Prefer: respond-async, wait=10`; a malformed preference counts as absent.
 *
 * @see RFC 7240.
 */
export function preferenceOf(headers: RequestHeaders) {
  const given = preferencesOf(headers)
  const submission = given.find((each) => respondAsync.test(each))
  const wait = given
    .map((each) => /^wait="?(\d{1,6})"?$/i.exec(each)?.[1])
    .find((each) => each !== undefined)
  const applied = [submission, wait && `wait=${wait}`].filter((each) => each !== undefined)
  return {
    isAsync: submission !== undefined,
    waitMs: Number(wait ?? 0) * 1000,
    applied: applied.join(', '),
  }
}

/** @returns the parameters of `respond-async; priority=5; not-before="…"`, by the names of options. */
export function parametersOf(headers: RequestHeaders): Readonly<Record<string, string>> {
  const [, ...parameters] =
    preferencesOf(headers)
      .find((each) => respondAsync.test(each))
      ?.split(';') ?? []
  const pairs = parameters.flatMap((each) => {
    if (each.trim() === '') return []
    const [name, ...value] = each.split('=').map((part) => part.trim())
    const option = name.toLowerCase().replace(/-(.)/g, (_, letter) => letter.toUpperCase())
    return [[option, value.join('=').replace(/^"([^"]*)"$/, '$1')]]
  })
  return Object.fromEntries(pairs)
}

function preferencesOf(headers: RequestHeaders): string[] {
  return (headers.get('prefer') ?? '').split(',').map((each) => each.trim())
}
