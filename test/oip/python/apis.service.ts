/** The models of side_by_side.py: APIs, and one of BF16 behind a Runner. */
import { Runner, Service } from 'serving'
import { addModelApis } from '../service.ts'

const module = new URL('../../runner/models/arithmetic.ts', import.meta.url)
const echo = new Runner('halves', { module, methods: { echo: {} } })
const tensor = (name: string) =>
  ({ name, dtype: 'float32', datatype: 'BF16', shape: [-1] }) as const
const svc = new Service('models', {
  models: [
    { runner: echo, method: 'echo', inputs: [tensor('input')], outputs: [tensor('output')] },
  ],
})
addModelApis(svc)

export default svc
