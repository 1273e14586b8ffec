import { InvalidArgument, Runner } from 'serving'
import { expect, it } from 'vitest'
import { hasPython, started as startedPython } from './python/python.ts'
import { failureOf, model, started } from './runner.ts'

type Place = typeof import('./models/place.ts')
const methods = { place: {}, end: {} }
const deviceIds = [4, 7]

/** Resolves when a replacement has its model. */
const replaced = (runner: Runner<Place>) =>
  new Promise<void>((resolve) => runner.watch(({ kind }) => kind === 'replaced' && resolve()))

for (const [isolation, wanted] of [
  ['thread', [0, 1, 2].map((index) => ({ index, device: [4, 7, 4][index], visible: undefined }))],
  ['process', [0, 1, 2].map((index) => ({ index, device: 0, visible: ['4', '7', '4'][index] }))],
] as const) {
  it(`gives each ${isolation} an index and a device, and its replacement the same`, async () => {
    const runner = await started<Place>({
      module: model('place'),
      methods,
      isolation,
      threads: 3,
      deviceIds,
    })
    const places = async () => {
      const all = await Promise.all([runner.place(), runner.place(), runner.place()])
      return all.toSorted((a, b) => a.index - b.index)
    }
    expect(await places()).toEqual(wanted)
    const again = replaced(runner)
    await failureOf(runner.end())
    await again
    expect(await places()).toEqual(wanted)
  })
}

it('has the index 0, and no device unless it is given one, in the caller’s thread and by default', async () => {
  const inline = await started<Place>({
    module: model('place'),
    methods,
    threads: 0,
    deviceIds: [3],
  })
  expect(await inline.place()).toEqual({ index: 0, device: 3, visible: undefined })
  for (const isolation of ['thread', 'process'] as const) {
    const runner = await started<Place>({ module: model('place'), methods, isolation })
    expect(await runner.place()).toEqual({ index: 0, device: undefined, visible: undefined })
  }
})

it.skipIf(!hasPython)(
  'gives each process of Python an index and a device (needs python3)',
  async () => {
    const runner = await startedPython('place', { threads: 2, deviceIds: [1, 0] })
    const places = await Promise.all([runner.place(), runner.place()])
    expect(places.toSorted()).toEqual(['0 1', '1 0'])
  },
)

it('refuses device ids that are no list of whole numbers', () => {
  for (const wrong of [[], [-1], ['0'], 0]) {
    const make = () =>
      new Runner('test', {
        module: model('place'),
        methods: { place: {} },
        deviceIds: wrong as never,
      })
    expect(make).toThrow(InvalidArgument)
    expect(make).toThrow(/deviceIds of the runner test/)
  }
})
