/**
 * Frames and series: records, CSV and Parquet.
 * @module
 */
import { createRequire } from 'node:module'
import type pl from 'nodejs-polars'
import { type BenchCase, type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const polars = () => createRequire(import.meta.url)('nodejs-polars') as typeof pl

/** Returns rows of ten columns: an id, counts, measurements, names and flags. */
function rows(count: number): Record<string, number | string | boolean>[] {
  const random = seeded()
  return Array.from({ length: count }, (_, i) => ({
    id: i,
    age: 18 + Math.floor(random() * 60),
    income: Math.round(random() * 1e7) / 100,
    score: random(),
    stature: 150 + Math.round(random() * 500) / 10,
    weight: 50 + Math.round(random() * 500) / 10,
    visits: Math.floor(random() * 1000),
    city: `city ${Math.floor(random() * 100)}`,
    name: `user${Math.floor(random() * 1e6)}`,
    active: random() < 0.5,
  }))
}

function records(count: number, connections: number): Omit<BenchCase, 'name'> {
  const value = rows(count)
  return echo('/frame', 'application/json', JSON.stringify(value), { connections, isRight: sameJson(value) })
}

function csvOf(table: readonly Record<string, unknown>[]): string {
  const lines = table.map((row) => Object.values(row).join(','))
  return `${Object.keys(table[0]).join(',')}\n${lines.join('\n')}\n`
}

/**
 * The fields of CSV without quotes, numbers as numbers and booleans in lower case; row labels that pandas adds are left
 * out.
 */
function fieldsOf(csv: string): (number | string)[] {
  const lines = csv.trimEnd().split(/\r?\n/)
  const skip = lines[0].startsWith(',') ? 1 : 0
  return lines.flatMap((line) =>
    line
      .split(',')
      .slice(skip)
      .map((field) => (Number.isNaN(Number(field)) ? field.toLowerCase() : Number(field))),
  )
}

/** pandas trades the last digit of decimals for speed. */
function isClose(one: number | string, other: number | string): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  return Math.abs(one - other) <= 1e-12 * Math.abs(other)
}

function csv(count: number, connections: number): Omit<BenchCase, 'name'> {
  const text = csvOf(rows(count))
  const wanted = fieldsOf(text)
  const isRight = (answer: Buffer) => {
    const fields = fieldsOf(answer.toString())
    return fields.length === wanted.length && fields.every((field, i) => isClose(field, wanted[i]))
  }
  return echo('/csv', 'text/csv', text, { connections, isRight })
}

function parquet(count: number): Omit<BenchCase, 'name'> {
  const { readCSV, readParquet } = polars()
  const frame = readCSV(Buffer.from(csvOf(rows(count))), { inferSchemaLength: count })
  const isRight = (answer: Buffer) => readParquet(answer).frameEqual(frame)
  return echo('/parquet', 'application/octet-stream', frame.writeParquet(), { connections: 2, isRight })
}

const looped = [...everyone, 'Polars in a loop']

/** Frames and series. */
export const frameCases: readonly CasePlan[] = [
  {
    name: 'frame records 1×2',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: { bentoml: 40 },
    make: () => echo('/frame', 'application/json', '[{"a":1,"b":2.5}]', { isRight: sameJson([{ a: 1, b: 2.5 }]) }),
  },
  {
    name: 'frame records 1000×10',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: { fastify: 4, bentoml: 6 },
    make: () => records(1000, 64),
  },
  {
    name: 'frame records 100k×10',
    isQuick: false,
    contenders: [...everyone, 'rust', 'go'],
    targets: { fastify: 3, bentoml: 4 },
    make: () => records(100_000, 2),
  },
  {
    name: 'CSV 1000×10',
    isQuick: true,
    contenders: [...looped, 'rust'],
    targets: { 'Polars in a loop': 0.85, bentoml: 1 },
    make: () => csv(1000, 64),
  },
  {
    name: 'CSV 100k×10',
    isQuick: false,
    contenders: [...looped, 'rust'],
    targets: { 'Polars in a loop': 0.85, bentoml: 1 },
    make: () => csv(100_000, 2),
  },
  {
    name: 'Parquet 1000×10',
    isQuick: false,
    contenders: [...looped, 'rust'],
    targets: {},
    make: () => parquet(1000),
  },
  {
    name: 'Parquet 100k×10',
    isQuick: false,
    contenders: [...looped, 'rust'],
    targets: { 'Polars in a loop': 0.85, bentoml: 1 },
    make: () => parquet(100_000),
  },
  {
    name: 'series of 8',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: {},
    make() {
      const text = '[5.1,3.5,1.4,0.2,6.2,2.9,4.3,1.3]'
      return echo('/series', 'application/json', text, { isRight: sameJson(JSON.parse(text)) })
    },
  },
]
