/** Connections to Redis or Valkey, for what several processes share. @module */
import type { Redis, RedisOptions } from 'ioredis'
import { loadOptional } from './modules/optional.ts'
import { within } from './promise.ts'
import { type RedisPlace, redisPlace } from './redis-url.ts'

export type { Redis }

/** Waits between attempts to connect: longer and longer, up to two seconds. */
const retryStrategy = (times: number) => Math.min(100 * times, 2_000)

/**
 * A new connection replaces one that owes an answer for this long: TCP alone tells after a quarter of an hour that the
 * other end has gone. Whoever asks each few seconds notices that within twenty. **Units**: milliseconds.
 */
const silentMs = 15_000

/**
 * Connects in the background, again after each loss. A command fails when the server is away for about a second; those
 * of a patient connection wait for it. `user` is what needs it, for messages.
 *
 * @throws InvalidArgument, MissingDependencyException.
 */
export function openRedis(url: string, user: string, isPatient = false): Redis {
  const limits = isPatient
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 3, commandTimeout: 5_000 }
  const client = connect(redisPlace(url, user), loadIoredis(user), {
    ...limits,
    socketTimeout: silentMs,
  })
  // While a cluster is away, ioredis keeps commands without a limit of number or time.
  if (client.isCluster && !isPatient)
    client.once('ready', () => {
      client.options.enableOfflineQueue = false
    })
  // Each command tells its own failure; without a listener ioredis would print them all.
  client.on('error', () => {})
  onNodes(client, (node) => {
    onSockets(node, joinWrites)
    hearAllErrors(node)
  })
  return client
}

/** Calls back with each server of a client. */
function onNodes(client: Redis, use: (node: Redis) => void): void {
  if (client.isCluster) client.on('+node', use)
  else use(client)
}

/** Calls back with each new socket to a server. */
function onSockets(node: Redis, use: (socket: Redis['stream']) => void): void {
  node.on('connect', () => use(node.stream))
}

/**
 * A socket of TLS that is ended during its handshake may have two errors: our end does not know the certificate, and
 * the other one breaks off. ioredis hears the first one alone, and the second one would end the process.
 */
function hearAllErrors(node: Redis): void {
  const disconnect = node.disconnect.bind(node)
  node.disconnect = (...args) => {
    node.stream?.on('error', () => {})
    disconnect(...args)
  }
}

/** So many bytes of commands wait for no others: the server works on them meanwhile. */
const joinedBytes = 16 * 1024

/** Sends the commands of one turn together: to send one costs as much as to make it. */
function joinWrites(socket: Redis['stream']): void {
  const write = socket.write.bind(socket)
  Object.assign(socket, {
    write(...args: Parameters<typeof write>) {
      if (socket.writableCorked === 0) {
        socket.cork()
        setImmediate(() => socket.uncork())
      }
      const hasRoom = write(...args)
      if (socket.writableLength >= joinedBytes) socket.uncork()
      return hasRoom
    },
  })
}

function loadIoredis(user: string): typeof import('ioredis') {
  return loadOptional('ioredis', '^6.0.0', user)
}

function connect(
  { url, hosts, sentinel, username, password, tls, isCluster }: RedisPlace,
  { Cluster, Redis }: typeof import('ioredis'),
  options: RedisOptions,
): Redis {
  if (!isCluster) {
    const sentinels = { sentinels: [...hosts], name: sentinel, sentinelTLS: tls }
    return new Redis(url, {
      ...options,
      tls,
      retryStrategy,
      // Behind one address, another server may have become the primary.
      reconnectOnError: ({ message }) => message.includes('READONLY'),
      ...(sentinel !== undefined && { ...sentinels, enableTLSForSentinelMode: true }),
    })
  }
  const cluster = new Cluster([...hosts], {
    redisOptions: { ...options, username, password, tls },
    clusterRetryStrategy: retryStrategy,
    maxRedirections: options.maxRetriesPerRequest === null ? Number.POSITIVE_INFINITY : 16,
    // If the check fails, as it does while a replica takes over, `connect()` never ends, for which BullMQ waits.
    enableReadyCheck: false,
    // Certificates are of names: ioredis would look their addresses up.
    dnsLookup: (name, found) => found(null, name),
  })
  // All that is used of a connection, both have.
  return cluster as unknown as Redis
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
  const place = redisPlace(url, user)
  const ioredis = loadIoredis(user)
  let client: Redis | undefined
  let wasAsked = false
  const open = () => {
    const made = connect(place, ioredis, {
      maxRetriesPerRequest: 0,
      socketTimeout: spareSilentMs,
    })
    made.on('error', () => {})
    onNodes(made, (node) => onSockets(node, (socket) => socket.unref()))
    return made
  }
  return async (use) => {
    client ??= open()
    // While it connects again nobody waits for it.
    if (wasAsked && client.status !== 'ready') return undefined
    try {
      return await within(use(client), spareMs, undefined)
    } catch {
      return undefined
    } finally {
      wasAsked = true
    }
  }
}

/** A script in Lua under one name. */
export type RedisScript<R> = (
  first: string,
  ...others: readonly (string | number | Buffer)[]
) => Promise<R>

/**
 * Its keys are made of its arguments. A cluster finds their server by the first one, so the rest of them must have the
 * same hash tag.
 *
 * @returns what runs a script, sent once to each server.
 */
export function redisScript<R>(client: Redis, name: string, lua: string): RedisScript<R> {
  client.defineCommand(name, { lua, numberOfKeys: 1 })
  const run = (client as unknown as Readonly<Record<string, RedisScript<R>>>)[name].bind(client)
  return (first, ...others) => run(first, first, ...others)
}
