/**
 * JSON and text.
 * @module
 */
import { gzipSync } from 'node:zlib'
import { type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const small = '{"user":"ada","n":3,"tags":["a","b"],"nested":{"x":1.5}}'
/** A sentence. */
export const line = 'Anyone who has never made a mistake has never tried anything new.'

/** A list of documents of about 300 bytes each. */
function documents(count: number): unknown {
  const random = seeded()
  return Array.from({ length: count }, (_, i) => ({
    id: i,
    user: {
      name: `user${Math.floor(random() * 1e6)}`,
      email: `user${i}@example.org`,
      verified: random() < 0.5,
    },
    tags: ['alpha', 'beta', `t${i % 17}`],
    scores: [random(), random(), Math.floor(random() * 100)],
    note: 'a sentence of a note, as people write them — with a dash',
    parent: null,
  }))
}

/** An echo of documents. `target` is of Fastify. */
function documentsCase(name: string, count: number, target: number): CasePlan {
  return {
    name,
    isQuick: count < 1000,
    contenders: ['bare', 'serving', 'fastify', 'rust', ...(count === 3400 ? ['fastapi'] : [])],
    targets: { fastify: target },
    make() {
      const value = documents(count)
      const connections = count > 3400 ? 4 : 64
      return echo('/json', 'application/json', JSON.stringify(value), {
        connections,
        isRight: sameJson(value),
      })
    },
  }
}

/** An echo of documents that come compressed. `target` is of Fastify. */
function packedCase(name: string, count: number, target: number): CasePlan {
  return {
    name,
    isQuick: true,
    contenders: ['bare', 'serving', 'fastify'],
    targets: { fastify: target },
    make() {
      const value = documents(count)
      const text = Buffer.from(JSON.stringify(value))
      return echo('/gzip', 'application/json', gzipSync(text), {
        headers: { 'content-encoding': 'gzip' },
        bare: { contentType: 'application/json', body: text },
        isRight: sameJson(value),
      })
    },
  }
}

/** JSON and text. */
export const textCases: readonly CasePlan[] = [
  {
    name: 'JSON object',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go', 'litserve'],
    targets: {},
    make: () => echo('/json', 'application/json', small, { isRight: sameJson(JSON.parse(small)) }),
  },
  documentsCase('JSON 10 KB', 34, 1.2),
  documentsCase('JSON 100 KB', 340, 1.2),
  documentsCase('JSON 1 MB', 3400, 0.95),
  documentsCase('JSON 4 MB', 13_600, 0.95),
  packedCase('JSON 100 KB, gzip', 340, 1.2),
  packedCase('JSON 1 MB, gzip', 3400, 0.95),
  {
    name: 'Text',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: { bare: 0.85 },
    make: () => echo('/text', 'text/plain', line),
  },
  {
    name: 'Text stream of 100 pieces',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: {},
    make() {
      const right = Buffer.from(line.repeat(100))
      return echo('/stream', 'text/plain', line, {
        bare: { contentType: 'text/plain; charset=utf-8', piece: line, pieces: 100 },
        isRight: (answer) => answer.equals(right),
      })
    },
  },
]
