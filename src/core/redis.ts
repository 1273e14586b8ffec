/** Connections to Redis or Valkey, for what several processes share. @module */
import type { Redis } from 'ioredis'
import { loadOptional } from './modules/optional.ts'
import { checkThat } from './options.ts'

export type { Redis }

/**
 * Connects in the background, again after each loss; a command fails when the server is away for about a second. `user`
 * is what needs it, for messages. **Errors**: InvalidArgument, MissingDependencyException.
 */
export function openRedis(url: string, user: string): Redis {
  checkThat(/^rediss?:\/\//.test(url) && URL.canParse(url), 'redis://HOST:PORT or rediss://', `the URL of ${user}`, url)
  const { Redis } = loadOptional<typeof import('ioredis')>('ioredis', '^6.0.0', user)
  const client = new Redis(url, {
    maxRetriesPerRequest: 3,
    retryStrategy: (times) => Math.min(100 * times, 2_000),
    commandTimeout: 5_000,
  })
  // Each command tells its own failure; without a listener ioredis would print them all.
  client.on('error', () => {})
  return client
}

/** Returns the URL for messages: without its password. */
export function withoutPassword(url: string): string {
  const shown = new URL(url)
  if (shown.password !== '') shown.password = '…'
  return shown.href
}

/** A script in Lua under one name. Its arguments follow the name of its keys' prefix. */
export type RedisScript<R> = (...args: readonly (string | number | Buffer)[]) => Promise<R>

/** Returns what runs a script, sent once to each server. Its keys are made of its arguments: one server, no cluster. */
export function redisScript<R>(client: Redis, name: string, lua: string): RedisScript<R> {
  client.defineCommand(name, { lua, numberOfKeys: 0 })
  return (client as unknown as Readonly<Record<string, RedisScript<R>>>)[name].bind(client) as RedisScript<R>
}
