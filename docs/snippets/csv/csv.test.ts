import { describe, it } from 'node:test'
import { describeDescriptor } from 'serving/testing'
import { Csv } from './csv.ts'

const rows = [
  ['a', 'b'],
  ['1', '2'],
]
describeDescriptor('Csv', { create: () => new Csv(), samples: [{ value: rows }] }, { describe, it })
