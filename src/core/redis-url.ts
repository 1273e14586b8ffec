/** What URLs of Redis say: of one server, of the primary that sentinels name, or of a cluster. @module */
import { existsSync, readFileSync } from 'node:fs'
import { checkThat } from './options.ts'

/** The files of TLS that a URL may name. */
const tlsFiles = ['ca', 'cert', 'key'] as const

/** Where a server of Redis is. */
export interface RedisPlace {
  /** The URL with the first one of its hosts. */
  readonly url: string
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly username: string
  readonly password: string
  /** The name that sentinels, which are the hosts then, have for the primary. */
  readonly sentinel: string | undefined
  readonly isCluster: boolean
  /** What `tls.connect` needs; undefined without TLS. */
  readonly tls: Readonly<Record<string, Buffer>> | undefined
}

/**
 * `user`: what needs the server, for messages.
 *
 * @throws InvalidArgument.
 */
export function redisPlace(given: string, user: string): RedisPlace {
  const [, before = '', list = '', rest = ''] =
    /^(rediss?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(given) ?? []
  const hosts = list.split(',')
  const url = before + hosts[0] + rest
  const what = `the URL of ${user}`
  const isUrl = before !== '' && [url, ...hosts.map((host) => `redis://${host}`)].every(isParsed)
  checkThat(isUrl, 'redis://HOST:PORT or rediss://', what, withoutPassword(given))
  const { protocol, searchParams, username, password } = new URL(url)
  const sentinel = searchParams.get('sentinel') ?? undefined
  const isCluster = searchParams.has('cluster')
  checkThat(
    hosts.length === 1 || isCluster || sentinel !== undefined,
    'one host, or several and ?sentinel=NAME or ?cluster',
    what,
    withoutPassword(given),
  )
  const named = tlsFiles.flatMap((name) => {
    const file = searchParams.get(name)
    if (file === null) return []
    checkThat(protocol === 'rediss:', 'rediss:// beside files of TLS', what, withoutPassword(given))
    checkThat(existsSync(file), 'a file', `${name} of ${what}`, file)
    return [[name, readFileSync(file)] as const]
  })
  return {
    url,
    hosts: hosts.map((host) => {
      const { hostname, port } = new URL(`redis://${host}`)
      const usual = sentinel === undefined ? 6379 : 26379
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || usual) }
    }),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    sentinel,
    isCluster,
    tls: protocol === 'rediss:' ? Object.fromEntries(named) : undefined,
  }
}

/**
 * In a cluster, the keys of one script are on one server: braces around a part of a key say which.
 *
 * @returns what keys begin with, so that services share a server: `prefix` of the URL, and a colon.
 * @throws InvalidArgument.
 */
export function keyPrefix(given: string, user: string): string {
  const { url, isCluster } = redisPlace(given, user)
  const prefix = new URL(url).searchParams.get('prefix') ?? (isCluster ? 'serving' : undefined)
  if (prefix === undefined) return ''
  checkThat(
    /^[\w.-]{1,64}$/.test(prefix),
    '1 to 64 letters, digits, _ . and -',
    'prefix of a redis:// URL',
    prefix,
  )
  if (isCluster) return `{${prefix}}:`
  return `${prefix}:`
}

/** @returns the URL for messages: without its passwords. */
export function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]*:)[^/?#]*@/, '$1…@').replace(/(password=)[^&#]*/gi, '$1…')
}

const isParsed = (url: string) => URL.canParse(url)
