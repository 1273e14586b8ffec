/** Connections to Redis or Valkey, for what several processes share. @module */
import type { Redis } from 'ioredis'
import { loadOptional } from './modules/optional.ts'
import { checkThat } from './options.ts'

export type { Redis }

/** Waits between attempts to connect: longer and longer, up to two seconds. */
const retryStrategy = (times: number) => Math.min(100 * times, 2_000)

/**
 * A new connection replaces one that owes an answer for this long: TCP alone tells after a quarter of an hour that the
 * other end has gone. Whoever asks each few seconds notices that within twenty. **Units**: milliseconds.
 */
const silentMs = 15_000

/**
 * Connects in the background, again after each loss; a command fails when the server is away for
 * about a second. `user` is what needs it, for messages.
 *
 * @throws InvalidArgument, MissingDependencyException.
 */
export function openRedis(url: string, user: string): Redis {
  const { Redis } = packageFor(url, user)
  const client = new Redis(url, {
    maxRetriesPerRequest: 3,
    retryStrategy,
    commandTimeout: 5_000,
    socketTimeout: silentMs,
  })
  // Each command tells its own failure; without a listener ioredis would print them all.
  client.on('error', () => {})
  return client
}

function packageFor(url: string, user: string): typeof import('ioredis') {
  checkThat(
    /^rediss?:\/\//.test(url) && URL.canParse(url),
    'redis://HOST:PORT or rediss://',
    `the URL of ${user}`,
    url,
  )
  return loadOptional('ioredis', '^6.0.0', user)
}

/** Longest wait for an answer that a caller can do without. **Units**: milliseconds. */
const spareMs = 500
/** Answers nothing for this long: then nobody asks it until a new connection is ready. **Units**: milliseconds. */
const spareSilentMs = 2_000

/** Does something with a server; undefined if it is away or slow. */
export type SpareRedis = <T>(use: (client: Redis) => Promise<T>) => Promise<T | undefined>

/**
 * It connects when it is first asked, and does not keep the process alive.
 *
 * @returns what asks a server that a process can do without.
 * @throws InvalidArgument, MissingDependencyException.
 */
export function spareRedis(url: string, user: string): SpareRedis {
  const { Redis } = packageFor(url, user)
  let client: Redis | undefined
  let wasAsked = false
  const open = () => {
    const made = new Redis(url, {
      maxRetriesPerRequest: 0,
      retryStrategy,
      commandTimeout: spareMs,
      socketTimeout: spareSilentMs,
    })
    made.on('error', () => {})
    made.on('connect', () => made.stream.unref())
    return made
  }
  return async (use) => {
    client ??= open()
    // While it connects again nobody waits for it.
    if (wasAsked && client.status !== 'ready') return undefined
    try {
      return await use(client)
    } catch {
      return undefined
    } finally {
      wasAsked = true
    }
  }
}

/**
 * @returns what the keys of jobs begin with, so that services share a server: `prefix` of the URL,
 * and a colon.
 */
export function keyPrefix(url: string): string {
  const prefix = URL.canParse(url) ? new URL(url).searchParams.get('prefix') : null
  if (prefix === null) return ''
  checkThat(
    /^[\w.-]{1,64}$/.test(prefix),
    '1 to 64 letters, digits, _ . and -',
    'prefix of a redis:// URL',
    prefix,
  )
  return `${prefix}:`
}

/** @returns the URL for messages: without its password. */
export function withoutPassword(url: string): string {
  const shown = new URL(url)
  if (shown.password !== '') shown.password = '…'
  return shown.href
}

/** A script in Lua under one name. Its arguments follow the name of its keys' prefix. */
export type RedisScript<R> = (...args: readonly (string | number | Buffer)[]) => Promise<R>

/**
 * Its keys are made of its arguments: one server, no cluster.
 *
 * @returns what runs a script, sent once to each server.
 */
export function redisScript<R>(client: Redis, name: string, lua: string): RedisScript<R> {
  client.defineCommand(name, { lua, numberOfKeys: 0 })
  return (client as unknown as Readonly<Record<string, RedisScript<R>>>)[name].bind(
    client,
  ) as RedisScript<R>
}
