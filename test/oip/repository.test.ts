import { cp, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Listener, modelRepository, type RepositoryOptions, Service, serve } from 'serving'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseTextMessage } from '../../src/protocols/oip/pbtxt.ts'
import type { ModelRepository } from '../../src/protocols/oip/repository.ts'
import { silent } from '../rpc/harness.ts'

const fixture = (name: string) =>
  fileURLToPath(new URL(`../fixtures/onnx/${name}`, import.meta.url))
const iris = fileURLToPath(new URL('../../examples/iris/model.onnx', import.meta.url))

let folder: string
let listener: Listener | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'models-'))
})
afterEach(async () => {
  await listener?.close()
  listener = undefined
  await rm(folder, { recursive: true })
})

async function put(model: string, version: string, file = iris): Promise<void> {
  await mkdir(join(folder, model, version), { recursive: true })
  await cp(file, join(folder, model, version, 'model.onnx'))
}

const served = (options: RepositoryOptions = {}) =>
  servedBy(new Service('models', { models: [modelRepository(folder, options)] }))

async function servedBy(
  svc: Service,
): Promise<(method: string, path: string, body?: object) => Promise<Response>> {
  listener = await serve(svc, { port: 0, host: '127.0.0.1', logger: silent })
  const base = `http://127.0.0.1:${listener.port}/v2`
  return (method, path, body) =>
    fetch(base + path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

const flower = { name: 'measurements', datatype: 'FP32', shape: [1, 4], data: [5.1, 3.5, 1.4, 0.2] }

describe('a repository of models', () => {
  it('is an option of a service', async () => {
    await put('iris', '1')
    const ask = await servedBy(new Service('models', { repository: folder }))
    const answer = await ask('POST', '/models/iris/infer', { inputs: [flower] })
    expect(await answer.json()).toMatchObject({
      model_name: 'iris',
      outputs: [{ data: ['setosa'] }, {}],
    })
    expect(
      () => new Service('x', { repository: folder, models: [modelRepository(folder)] }),
    ).toThrow(/two models/)
    expect(() => new Service('x', { repository: 1 as never })).toThrow('expected a path')
  })

  const input = 'name: "measurements" data_type: TYPE_FP32'
  it.each([
    [`input [{ ${input} dims: [-1, 4] }]`, undefined],
    [
      `max_batch_size: 4 input { ${input} dims: 4 } output { name: "species" data_type: TYPE_STRING }`,
      undefined,
    ],
    [`input { ${input} dims: [2, 2] reshape { shape: [1, 4] } }`, undefined],
    [`input { name: "flowers" dims: [-1, 4] }`, 'one of the file\'s inputs "measurements"'],
    [`input { name: "measurements" data_type: TYPE_INT64 }`, "the file's TYPE_FP32"],
    [`input { name: "measurements" data_type: FLOAT }`, 'a datatype such as TYPE_FP32'],
    [`input { data_type: TYPE_FP32 }`, 'a name for input of config.pbtxt of iris'],
    [`input { ${input} dims: [-1, 5] }`, 'dims (-1, 4) for input "measurements"'],
    [`max_batch_size: 4 input { ${input} dims: [1, 4] }`, 'dims (4,) behind the rows'],
    [`output { name: "species" data_type: TYPE_FP32 }`, "the file's TYPE_STRING"],
    [`input { ${input} } input { name: "other" }`, "one of the file's inputs"],
  ])('compares its configuration with the file: %s', async (config, fault) => {
    await put('iris', '1')
    await writeFile(join(folder, 'iris', 'config.pbtxt'), config)
    const repository = modelRepository(folder)
    const events: string[] = []
    repository.watch(({ message }) => events.push(message))
    await repository.start()
    if (fault === undefined) expect(events).toEqual(['the model iris is loaded'])
    else expect(events).toEqual([expect.stringContaining(fault)])
    await repository.stop()
  })

  it('serves every model of a folder, with the names, datatypes and shapes of its file', async () => {
    await put('iris', '1')
    await put('iris', '3')
    await put('lookup', '1', fixture('lookup.onnx'))
    await put('broken', '1', fixture('make.py'))
    const config =
      '# rows\nmax_batch_size: 8\ndynamic_batching { max_queue_delay_microseconds: 2000 }\n'
    await writeFile(
      join(folder, 'iris', 'config.pbtxt'),
      `${config}version_policy: { specific { versions: [1, 3] } }`,
    )
    const ask = await served()
    expect(await (await ask('GET', '/models/iris')).json()).toMatchObject({
      versions: ['3', '1'],
      platform: 'onnxruntime_onnx',
      inputs: [{ name: 'measurements', datatype: 'FP32', shape: [-1, 4] }],
      outputs: [
        { name: 'species', datatype: 'BYTES' },
        { name: 'probabilities', datatype: 'FP32' },
      ],
    })
    expect(await (await ask('GET', '/models/iris/config')).json()).toMatchObject({
      max_batch_size: 8,
      input: [{ dims: [4] }],
    })
    const answer = await ask('POST', '/models/iris/infer', { inputs: [flower] })
    expect(await answer.json()).toMatchObject({
      model_version: '3',
      outputs: [{ data: ['setosa'] }, {}],
    })
    const first = await ask('POST', '/models/iris/versions/1/infer', { inputs: [flower] })
    expect(await first.json()).toMatchObject({ model_version: '1' })
    const index = (await (await ask('POST', '/repository/index')).json()) as {
      name: string
      state: string
    }[]
    expect(index.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
      'broken UNAVAILABLE',
      'iris READY',
      'iris READY',
      'lookup READY',
    ])
    // The control of the repository is none.
    expect((await ask('POST', '/repository/models/iris/unload')).status).toBe(403)
  })

  it('serves a folder that is one model, as KServe mounts it', async () => {
    await cp(iris, join(folder, 'model.onnx'))
    const ask = await served({ name: 'flowers' })
    const answer = await ask('POST', '/models/flowers/infer', { inputs: [flower] })
    expect(await answer.json()).toMatchObject({ model_name: 'flowers', model_version: '1' })
  })

  it('calls a model with what a client sends alone: one that never ends for zeros answers', async () => {
    await put('endless', '1', fixture('endless.onnx'))
    const ask = await served()
    const x = { name: 'x', datatype: 'FP32', shape: [], data: [2] }
    const answer = await ask('POST', '/models/endless/infer', { inputs: [x] })
    expect(await answer.json()).toMatchObject({ outputs: [{ name: 'y', data: [2] }] })
  })

  it('loads, reloads and unloads when clients say so', async () => {
    const ask = await served({ control: 'explicit' })
    expect((await ask('POST', '/repository/models/iris/load')).status).toBe(404)
    await put('iris', '1')
    expect((await ask('POST', '/repository/models/iris/load')).status).toBe(200)
    expect((await ask('GET', '/models/iris/ready')).status).toBe(200)
    await put('iris', '2', fixture('make.py'))
    const failed = await ask('POST', '/repository/models/iris/load')
    expect(failed.status).toBe(400)
    expect(await failed.json()).toMatchObject({
      error: expect.stringContaining('could not be loaded'),
    })
    // The version before still answers.
    expect(
      await (await ask('POST', '/models/iris/infer', { inputs: [flower] })).json(),
    ).toMatchObject({
      model_version: '1',
    })
    await put('iris', '2')
    expect((await ask('POST', '/repository/models/iris/load')).status).toBe(200)
    expect(
      await (await ask('POST', '/models/iris/infer', { inputs: [flower] })).json(),
    ).toMatchObject({
      model_version: '2',
    })
    expect((await ask('POST', '/repository/models/iris/unload')).status).toBe(200)
    expect((await ask('POST', '/models/iris/infer', { inputs: [flower] })).status).toBe(404)
  })

  it('loads at the start what it is told to, where clients load the rest', async () => {
    for (const name of ['one', 'two', 'three']) await put(name, '1')
    const ready = async (load?: readonly string[]) => {
      const ask = await served({ control: 'explicit', ...(load && { load }) })
      const index = (await (await ask('POST', '/repository/index')).json()) as { name: string }[]
      await listener?.close()
      return index.map(({ name }) => name).sort()
    }
    expect(await ready()).toEqual([])
    expect(await ready(['two'])).toEqual(['two'])
    expect(await ready(['*'])).toEqual(['one', 'three', 'two'])
    await expect(served({ control: 'explicit', load: ['four'] })).rejects.toThrow(
      /expected the name of a model for load of modelRepository, received "four"/,
    )
    listener = undefined
    expect(() => modelRepository(folder, { load: ['one'] })).toThrow("control 'explicit' for load")
  })

  it('loads no more models once it is told to stop', async () => {
    for (let i = 0; i < 6; i++) await put(`m${i}`, '1')
    const repository = modelRepository(folder)
    const events: string[] = []
    repository.watch(({ message }) => events.push(message))
    const start = repository.start()
    const first = new Promise((resolve) => repository.watch(resolve))
    const failed = expect(start).rejects.toThrow('broken off')
    await first
    await repository.stop()
    await failed
    expect(events).toEqual(['the model m0 is loaded'])
    // It may start again.
    await repository.start()
    expect(events).toHaveLength(7)
    await repository.stop()
  })

  it('tells clients neither paths nor what its files say, the log both', async () => {
    await writeFile(join(folder, 'file'), 'x')
    await put('secret', '1')
    await writeFile(join(folder, 'secret', 'config.pbtxt'), 'input { secret-name }')
    await put('broken', '1', fixture('make.py'))
    await mkdir(join(folder, 'empty'))
    const svc = new Service('models', {
      models: [modelRepository(folder, { control: 'explicit' })],
    })
    const events: string[] = []
    for (const { runner } of svc.models) runner.watch(({ message }) => events.push(message))
    const ask = await servedBy(svc)
    const told: Record<string, string> = {}
    for (const name of ['file', 'secret', 'broken', 'empty']) {
      const answer = await ask('POST', `/repository/models/${name}/load`)
      expect(answer.status).toBe(400)
      told[name] = ((await answer.json()) as { error: string }).error
    }
    const hidden = "the model could not be loaded: the server's log says why"
    expect(told).toEqual({
      file: hidden,
      secret: hidden,
      broken: hidden,
      empty: 'the model could not be loaded: expected a file model.onnx for "empty", found none',
    })
    const index = (await (await ask('POST', '/repository/index')).json()) as {
      name: string
      reason: string
    }[]
    expect(Object.fromEntries(index.map(({ name, reason }) => [name, reason]))).toEqual(told)
    const log = events.join()
    for (const detail of [
      `scandir '${join(folder, 'file')}'`,
      '"-name }"',
      join(folder, 'broken'),
    ]) {
      expect(log).toContain(detail)
    }
  })

  it('reports a model that cannot be loaded once, until its files or its fault are others', async () => {
    await put('broken', '1', fixture('make.py'))
    const repository = modelRepository(folder, {
      control: 'poll',
      pollMs: 3_600_000,
    }) as ModelRepository
    const events: string[] = []
    repository.watch(({ kind }) => events.push(kind))
    await repository.start()
    await repository.scan()
    expect(events).toEqual(['load_failed'])
    await writeFile(join(folder, 'broken', '1', 'model.onnx'), 'something else')
    await repository.scan()
    await repository.scan()
    expect(events).toEqual(['load_failed', 'load_failed'])
    await put('broken', '1')
    await repository.scan()
    await put('broken', '1', fixture('make.py'))
    await repository.scan()
    expect(events).toEqual(['load_failed', 'load_failed', 'replaced', 'load_failed'])
    await repository.stop()
  })

  it('sees what changes in the folder', async () => {
    await put('iris', '1')
    const ask = await served({ control: 'poll', pollMs: 50 })
    await put('lookup', '1', fixture('lookup.onnx'))
    await vi.waitFor(
      async () => expect((await ask('GET', '/models/lookup/ready')).status).toBe(200),
      {
        timeout: 15_000,
      },
    )
    await rm(join(folder, 'iris'), { recursive: true })
    await vi.waitFor(
      async () => expect((await ask('GET', '/models/iris/ready')).status).toBe(404),
      { timeout: 15_000 },
    )
  })

  it('holds as many models as its memory has room for, and loads the others when they are called', async () => {
    for (const name of ['one', 'two', 'three']) await put(name, '1')
    await put('broken', '1', fixture('make.py'))
    const { size } = await stat(iris)
    const repository = modelRepository(folder, { maxBytes: 2 * size, pin: ['two'] })
    const events: string[] = []
    repository.watch(({ message }) => events.push(message.split(':')[0]))
    const ask = await servedBy(new Service('models', { models: [repository] }))
    expect(events).toEqual(['the model two is loaded'])
    const infer = async (name: string) => {
      const answer = await ask('POST', `/models/${name}/infer`, { inputs: [flower] })
      return answer.json()
    }
    const flowers = { outputs: [{ data: ['setosa'] }, {}] }
    for (const name of ['one', 'three', 'one', 'two', 'one'])
      expect(await infer(name)).toMatchObject({ model_name: name, ...flowers })
    const loaded = (name: string) => `the model ${name} is loaded`
    expect(events.splice(0)).toEqual(['two', 'one', 'three', 'one'].map(loaded))
    const values = (repository as ModelRepository)
      .families()
      .map(({ name, values }) => [name, values[0].value])
    expect(Object.fromEntries(values)).toMatchObject({
      serving_pool_models: 2,
      serving_pool_bytes: 2 * size,
      serving_pool_evictions_total: 2,
    })
    // What it says of a model stays when the model goes.
    expect((await ask('GET', '/models/three/ready')).status).toBe(200)
    expect(await (await ask('GET', '/models/three')).json()).toMatchObject({
      inputs: [{ name: 'measurements' }],
    })
    expect(events).toEqual([])

    const hidden = "the model could not be loaded: the server's log says why"
    for (let i = 0; i < 2; i++) expect(await infer('broken')).toMatchObject({ error: hidden })
    expect(events.splice(0)).toEqual(['the model broken could not be loaded'])
    const index = async () => {
      const all = (await (await ask('POST', '/repository/index')).json()) as { reason?: string }[]
      return all.flatMap(({ reason }) => reason ?? [])
    }
    expect(await index()).toEqual([hidden])
    await put('broken', '1')
    await (repository as ModelRepository).scan()
    expect(await infer('broken')).toMatchObject(flowers)
    expect(await index()).toEqual([])
    expect(() => modelRepository(folder, { maxBytes: 'much' })).toThrow(
      'expected bytes, or a size like 64kb or 1mb for maxBytes of modelRepository',
    )
    expect(() => modelRepository(folder, { pin: 'two' as never })).toThrow('a list of names')
  })

  it('swaps versions four times under load without a failed request', {
    timeout: 120_000,
  }, async () => {
    await put('iris', '1')
    const ask = await served({ control: 'explicit', load: ['*'] })
    let isOver = false
    const seen = new Map<string, number>()
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const answer = await ask('POST', '/models/iris/infer', { inputs: [flower] })
        const { model_version: version = String(answer.status) } = (await answer.json()) as {
          model_version?: string
        }
        seen.set(version, (seen.get(version) ?? 0) + 1)
      }
    })
    for (let version = 2; version <= 5; version++) {
      await put('iris', String(version))
      expect((await ask('POST', '/repository/models/iris/load')).status).toBe(200)
    }
    isOver = true
    await Promise.all(clients)
    const versions = Array.from({ length: 5 }, (_, i) => String(i + 1))
    expect([...seen.keys()].filter((version) => !versions.includes(version))).toEqual([])
    expect(seen.size).toBeGreaterThan(2)
  })
})

describe('configurations in protobuf text', () => {
  it('are read with comments, lists, strings and either spelling of messages', () => {
    const text =
      'name: "a\\"b" # c\ninput [ { name: "x" dims: [ -1, 2 ] data_type: TYPE_FP32 }, { name: \'y\' } ]\nb < c: true >'
    expect(parseTextMessage(text, 'x')).toEqual({
      name: ['a"b'],
      input: [{ name: ['x'], dims: [-1, 2], data_type: ['TYPE_FP32'] }, { name: ['y'] }],
      b: [{ c: [true] }],
    })
    expect(parseTextMessage('', 'x')).toEqual({})
  })

  it.each(['a: {', 'a: ]', '{}', 'a: [1', ': 1', 'a: "x'])(
    'are refused where they break off: %s',
    (text) => {
      expect(() => parseTextMessage(text, 'config.pbtxt of m')).toThrow(/config.pbtxt of m/)
    },
  )
})
