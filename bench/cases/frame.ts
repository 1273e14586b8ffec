/**
 * Frames and series: records, CSV and Parquet.
 * @module
 */
import { createRequire } from 'node:module'
import type pl from 'nodejs-polars'
import { type BenchCase, type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const polars = () => createRequire(import.meta.url)('nodejs-polars') as typeof pl

type Row = Record<string, number | string | boolean>

/** Returns rows of ten columns: an id, counts, measurements, names and flags. */
function rows(count: number): Row[] {
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

/** Returns rows of five numbers of 17 digits, three small integers, a text of 97 and a flag. */
function digits(count: number): Row[] {
  const random = seeded()
  const small = (limit: number) => Math.floor(random() * limit)
  return Array.from({ length: count }, () => ({
    ...{
      a: random() * 100,
      b: random() * 100,
      c: random() * 100,
      d: random() * 100,
      e: random() * 100,
    },
    ...{ few: small(10), some: small(100), many: small(1000) },
    ...{ text: `category ${small(97)}`, flag: random() < 0.5 },
  }))
}

function records(value: readonly Row[], connections: number): Omit<BenchCase, 'name'> {
  return echo('/frame', 'application/json', JSON.stringify(value), {
    connections,
    isRight: sameJson(value),
  })
}

function csvOf(table: readonly Row[]): string {
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

function csv(table: readonly Row[], connections: number): Omit<BenchCase, 'name'> {
  const text = csvOf(table)
  const wanted = fieldsOf(text)
  const isRight = (answer: Buffer) => {
    const fields = fieldsOf(answer.toString())
    return fields.length === wanted.length && fields.every((field, i) => isClose(field, wanted[i]))
  }
  return echo('/csv', 'text/csv', text, { connections, isRight })
}

/** The body is compressed as pandas does it. */
function parquet(table: readonly Row[]): Omit<BenchCase, 'name'> {
  const { readCSV, readParquet } = polars()
  const frame = readCSV(Buffer.from(csvOf(table)), { inferSchemaLength: table.length })
  const isRight = (answer: Buffer) => readParquet(answer).frameEqual(frame)
  const body = frame.writeParquet({ compression: 'snappy' })
  return echo('/parquet', 'application/octet-stream', body, { connections: 2, isRight })
}

const looped = [...everyone, 'Polars in a loop']

/** Frames and series. */
export const frameCases: readonly CasePlan[] = [
  {
    name: 'frame records 1×2',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: { bentoml: 40 },
    make: () =>
      echo('/frame', 'application/json', '[{"a":1,"b":2.5}]', {
        isRight: sameJson([{ a: 1, b: 2.5 }]),
      }),
  },
  {
    name: 'frame records 1000×10',
    isQuick: true,
    contenders: [...everyone, 'rust'],
    targets: { fastify: 4, bentoml: 6 },
    make: () => records(rows(1000), 64),
  },
  {
    name: 'frame records 100k×10',
    isQuick: false,
    contenders: [...everyone, 'rust'],
    targets: { fastify: 3, bentoml: 4 },
    make: () => records(rows(100_000), 2),
  },
  {
    name: 'CSV 1000×10',
    isQuick: true,
    contenders: [...looped, 'rust'],
    targets: { 'Polars in a loop': 0.85, bentoml: 1 },
    make: () => csv(rows(1000), 64),
  },
  {
    name: 'CSV 100k×10',
    isQuick: false,
    contenders: [...looped, 'rust'],
    targets: { 'Polars in a loop': 0.85, bentoml: 1 },
    make: () => csv(rows(100_000), 2),
  },
  {
    name: 'Parquet 1000×10',
    isQuick: false,
    contenders: ['bare', 'serving', 'fastify', 'fastapi', 'Polars in a loop', 'rust'],
    targets: {},
    make: () => parquet(rows(1000)),
  },
  {
    name: 'Parquet 100k×10',
    isQuick: false,
    contenders: [...looped, 'rust'],
    targets: { 'Polars in a loop': 0.85, bentoml: 1 },
    make: () => parquet(rows(100_000)),
  },
  ...[1000, 100_000].flatMap((count): CasePlan[] => {
    const size = `${count === 1000 ? '1000' : '100k'}×10 of 17 digits`
    const plan = { isQuick: false, contenders: ['bare', 'serving', 'fastify', 'rust'] }
    const connections = count === 1000 ? 64 : 2
    return [
      {
        ...plan,
        name: `frame records ${size}`,
        targets: {},
        make: () => records(digits(count), connections),
      },
      {
        ...plan,
        name: `CSV ${size}`,
        targets: { rust: 1.1 },
        make: () => csv(digits(count), connections),
      },
      {
        ...plan,
        name: `Parquet ${size}`,
        targets: { rust: 1 },
        make: () => parquet(digits(count)),
      },
    ]
  }),
  {
    name: 'series of 8',
    isQuick: true,
    contenders: [...everyone, 'rust'],
    targets: {},
    make() {
      const text = '[5.1,3.5,1.4,0.2,6.2,2.9,4.3,1.3]'
      return echo('/series', 'application/json', text, { isRight: sameJson(JSON.parse(text)) })
    },
  },
]
