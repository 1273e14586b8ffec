/**
 * Live streams: messages over WebSockets, one after another on each connection.
 * @module
 */
import { type BenchCase, type CasePlan, echo } from './case.ts'
import { npyPicture } from './ndarray.ts'
import { line } from './text.ts'

const servers = ['bare', 'serving', 'ws', 'fastapi', 'serving, node']
const text = { isText: true, answers: 1 }

function pictures(): Omit<BenchCase, 'name'> {
  const body = npyPicture()
  const values = body.subarray(-3 * 224 * 224 * 4)
  return echo('/live_floats', 'application/x-npy', body, {
    live: { isText: false, answers: 1 },
    connections: 8,
    // Writers differ in how they pad the header.
    isRight: (answer) => answer.subarray(-values.length).equals(values),
  })
}

/** Live streams. */
export const liveCases: readonly CasePlan[] = [
  {
    name: 'live, text',
    isQuick: true,
    contenders: servers,
    targets: { bare: 0.7, ws: 2 },
    make: () => echo('/live_text', 'text/plain', line, { live: text }),
  },
  {
    name: 'live, 3×224×224 float32',
    isQuick: true,
    contenders: servers,
    targets: { bare: 0.7, ws: 2 },
    make: pictures,
  },
  {
    name: 'live, 100 pieces',
    isQuick: true,
    contenders: [...servers, 'serving, Text stream'],
    targets: { 'serving, Text stream': 0.8 },
    make() {
      const right = Buffer.from(line.repeat(100))
      return echo('/live_pieces', 'text/plain', line, {
        bare: { contentType: 'text/plain', piece: line, pieces: 100 },
        live: { isText: true, answers: 100 },
        isRight: (answer) => answer.equals(right),
      })
    },
  },
]
