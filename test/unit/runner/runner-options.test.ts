import { InvalidArgument, Runner, type RunnerOptions, Service } from 'serving'
import { describe, expect, it } from 'vitest'

const module = new URL('./model.ts', import.meta.url)
const create = (options: object, name = 'iris') => new Runner(name, options as RunnerOptions)

describe('a Runner', () => {
  it('refuses at construction what it could not do later, naming it', () => {
    const wrong: [object, RegExp][] = [
      [{ methods: { predict: {} } }, /module of the runner iris/],
      [
        { module: './model.ts', methods: { predict: {} } },
        /import\.meta\.url.*received "\.\/model\.ts"/,
      ],
      [{ module, methods: {} }, /at least one method/],
      [{ module }, /at least one method/],
      [{ module, methods: { predict: {} }, thread: 2 }, /unknown option "thread"/],
      [
        { module, methods: { predict: { maxBatch: 2 } } },
        /unknown option "maxBatch" for predict of the runner iris/,
      ],
      [{ module, methods: { predict: { maxBatchSize: 0 } } }, /from 1 up for maxBatchSize/],
      [{ module, methods: { predict: { maxWaitMs: -1 } } }, /maxWaitMs/],
      [{ module, methods: { predict: {} }, modelGraceMs: -1 }, /modelGraceMs/],
      [{ module, methods: { predict: {} }, onHang: 'wait' }, /one of replace, report for onHang/],
      [
        { module, methods: { predict: { batchable: true, stream: true } } },
        /both batchable and a stream/,
      ],
      [
        { module, methods: { predict: { onBatchError: 'ignore' } } },
        /one of retry, fail for onBatchError/,
      ],
      [
        { module, methods: { predict: { batch: { pad: 0 } } } },
        /predict of the runner iris has the option batch, for which it must be batchable/,
      ],
      ...[
        [{ pad: '0' }, /a number for pad of batch of predict of the runner iris/],
        [{ trim: true }, /buckets or trim, for which it needs pad/],
        [{ buckets: [32] }, /buckets or trim, for which it needs pad/],
        [{ pad: 0, buckets: [] }, /a rising list of whole numbers from 1 up for buckets/],
        [{ pad: 0, buckets: [32, 32] }, /a rising list of whole numbers/],
        [{ pad: 0, buckets: [0.5] }, /a rising list of whole numbers/],
        [{ pad: 0, trim: 'tokens' }, /true or a list of names for trim/],
        [{ cost: 2 }, /a function for cost/],
        [{ padding: 2 }, /unknown option "padding" for batch of predict/],
      ].map(([batch, text]): [object, RegExp] => [
        { module, methods: { predict: { batchable: true, batch } } },
        text as RegExp,
      ]),
      [{ module, methods: { start: {} } }, /cannot be called start/],
      [{ module, methods: { predict: {} }, threads: 1.5 }, /threads/],
      [
        { module, methods: { predict: {} }, isolation: 'machine' },
        /one of thread, process for isolation/,
      ],
      [
        { module, methods: { predict: {} }, warmup: { other: 1 } },
        /warmup of the runner iris names other/,
      ],
    ]
    for (const [options, message] of wrong) {
      expect(() => create(options), String(message)).toThrow(InvalidArgument)
      expect(() => create(options)).toThrow(message)
    }
    expect(() => create({ module, methods: { predict: {} } }, 'no spaces')).toThrow(
      /name of a Runner/,
    )
  })

  it('takes a file URL and an absolute path', () => {
    for (const given of [module, module.href, '/srv/model.js'])
      create({ module: given, methods: { predict: {} } })
  })
})

describe('the runners of a Service', () => {
  const runner = (name: string) => create({ module, methods: { predict: {} } }, name)

  it('are listed, and make it unready until they have started', () => {
    const iris = runner('iris')
    const svc = new Service('flowers', { runners: [iris] })
    expect(svc.runners).toEqual([iris])
    expect(svc.unready).toBe('the runner iris has not started')
    expect(new Service('nothing').unready).toBeUndefined()
  })

  it('are refused when two have one name or one is no Runner', () => {
    expect(() => new Service('s', { runners: [runner('iris'), runner('iris')] })).toThrow(
      /two runners named iris/,
    )
    expect(() => new Service('s', { runners: [{} as Runner] })).toThrow(
      /a Runner for runners of the service s/,
    )
    expect(() => new Service('s', { runners: 5 as never })).toThrow(/a list of Runners/)
    expect(() => new Service('s', { runner: [] } as never)).toThrow(/it has doc, version, runners/)
  })

  it('start and stop with it, those that had started also when another fails', async () => {
    const events: string[] = []
    const fake = (name: string, fails = false) => ({
      name,
      unready: undefined,
      waiting: 0,
      start: async () => {
        events.push(`start ${name}`)
        if (fails) throw new Error('no weights')
      },
      stop: async () => void events.push(`stop ${name}`),
      watch: () => () => {},
    })
    const svc = new Service('s', { runners: [fake('a'), fake('b', true), fake('c')] })
    svc.onShutdown(() => void events.push('hook'))
    await expect(svc.start()).rejects.toThrow('no weights')
    await svc.stop()
    expect(events).toEqual(['start a', 'start b', 'start c', 'hook', 'stop a', 'stop c'])
  })
})
