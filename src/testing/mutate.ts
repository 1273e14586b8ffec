/**
 * @returns a seeded generator of numbers from 0 up to 1 (mulberry32), so that a failure can be
 * repeated.
 */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Yields a good body: whole, cut, doubled and with bytes changed, removed and inserted. */
export function* mutations(body: Uint8Array, count = 60): Generator<Uint8Array> {
  yield body
  yield new Uint8Array(0)
  yield Buffer.concat([body, body])
  yield Buffer.concat([Uint8Array.of(0xef, 0xbb, 0xbf), body])
  const random = seeded(body.length + 1)
  const below = (limit: number) => Math.floor(random() * limit)
  for (let i = 0; i < count; i++) {
    const at = below(body.length + 1)
    const kind = below(4)
    const before = body.subarray(0, at)
    if (kind === 0) yield before
    else if (kind === 1) yield Buffer.concat([before, body.subarray(at + 1 + below(3))])
    else {
      const after = body.subarray(kind === 2 ? at : at + 1)
      yield Buffer.concat([before, Uint8Array.of(below(256)), after])
    }
  }
}

/** Yields bytes of no format: noise, deep nesting, bare tokens. */
export function* randomBytes(count = 20): Generator<Uint8Array> {
  for (const text of [
    'null',
    '{}',
    '[]',
    '""',
    '0',
    '[',
    '"',
    '\0',
    '{"__proto__":{"a":1}}',
    '1e999',
    '-',
    'true',
  ]) {
    yield Buffer.from(text)
  }
  yield Buffer.alloc(100_000, '[')
  yield Buffer.alloc(100_000, '{"a":')
  const random = seeded(7)
  for (let i = 0; i < count; i++) {
    yield Uint8Array.from({ length: Math.floor(random() * 200) }, () => Math.floor(random() * 256))
  }
}
