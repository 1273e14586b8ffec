/**
 * JSON and text.
 * @module
 */
import { gzipSync } from 'node:zlib'
import { type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const small = '{"user":"ada","n":3,"tags":["a","b"],"nested":{"x":1.5}}'
/** A sentence. */
export const line = 'Anyone who has never made a mistake has never tried anything new.'

/** A list of documents, about 1 MB. */
function documents(): unknown {
  const random = seeded()
  return Array.from({ length: 3400 }, (_, i) => ({
    id: i,
    user: { name: `user${Math.floor(random() * 1e6)}`, email: `user${i}@example.org`, verified: random() < 0.5 },
    tags: ['alpha', 'beta', `t${i % 17}`],
    scores: [random(), random(), Math.floor(random() * 100)],
    note: 'a sentence of a note, as people write them — with a dash',
    parent: null,
  }))
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
  {
    name: 'JSON 1 MB',
    isQuick: false,
    contenders: [...everyone, 'rust', 'go'],
    targets: {},
    make() {
      const value = documents()
      return echo('/json', 'application/json', JSON.stringify(value), { isRight: sameJson(value) })
    },
  },
  {
    name: 'JSON 1 MB, gzip',
    isQuick: true,
    contenders: ['bare', 'serving', 'fastify'],
    targets: {},
    make() {
      const value = documents()
      const text = Buffer.from(JSON.stringify(value))
      return echo('/gzip', 'application/json', gzipSync(text), {
        headers: { 'content-encoding': 'gzip' },
        bare: { contentType: 'application/json', body: text },
        isRight: sameJson(value),
      })
    },
  },
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
