import type { Scheme } from './context.ts'
import type { RequestHeaders } from './message.ts'

/** The trusted proxies in front of a server. */
export interface TrustedProxies {
  readonly count: number
  /** Else they write X-Forwarded-For and X-Forwarded-Proto. */
  readonly writeForwarded: boolean
}

/** @returns the names of the request headers that proxies write. */
export function forwardingHeaders({ writeForwarded }: TrustedProxies): readonly string[] {
  return writeForwarded ? ['forwarded'] : ['x-forwarded-for', 'x-forwarded-proto']
}

/**
 * Each proxy appends an address, so what the client itself wrote stands further in front and is
 * ignored.
 *
 * @returns the address that the outermost trusted proxy saw; undefined without one.
 * @see RFC 7239.
 */
export function forwardedAddress(
  headers: RequestHeaders,
  proxies: TrustedProxies,
): string | undefined {
  return nodeAddress(forwarded(headers, 'x-forwarded-for', 'for', proxies) ?? '')
}

/** As {@link forwardedAddress}, for the scheme: of `X-Forwarded-Proto`, or `proto` of `Forwarded`. */
export function forwardedScheme(
  headers: RequestHeaders,
  proxies: TrustedProxies,
): Scheme | undefined {
  const scheme = forwarded(headers, 'x-forwarded-proto', 'proto', proxies)?.toLowerCase()
  return scheme === 'http' || scheme === 'https' ? scheme : undefined
}

function forwarded(
  headers: RequestHeaders,
  name: string,
  parameter: string,
  { count, writeForwarded }: TrustedProxies,
): string | undefined {
  const entries = headers.get(writeForwarded ? 'forwarded' : name)?.split(',')
  if (entries === undefined) return undefined
  const entry = entries[Math.max(0, entries.length - count)].trim()
  if (!writeForwarded) return entry
  const found = new RegExp(`(?:^|;)\\s*${parameter}=(?:"([^"]*)"|([^;\\s]*))`, 'i').exec(entry)
  return found?.[1] ?? found?.[2]
}

/** @returns the address of `1.2.3.4:80`, `[::1]:80` or the like; undefined for other names. */
function nodeAddress(text: string): string | undefined {
  const bare =
    /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ??
    (/^[\d.]+:\d+$/.test(text) ? text.split(':')[0] : text)
  return /^[\d.]{7,15}$|^[\da-f:.]*:[\da-f:.]*$/i.test(bare) ? plainAddress(bare) : undefined
}

/** @returns an address without zeros of IPv6, and a mapped IPv4 address as IPv4. */
export function plainAddress(text: string): string {
  if (!text.includes(':')) return text
  try {
    const short = new URL(`http://[${text}]`).hostname.slice(1, -1)
    const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(short)
    if (mapped === null) return short
    const [high, low] = [Number.parseInt(mapped[1], 16), Number.parseInt(mapped[2], 16)]
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  } catch {
    return text
  }
}
