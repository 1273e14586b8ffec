import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { io, type NDArray, Service as ServiceClass, serve } from 'serving'
import { apiKey } from 'serving/auth'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/engine/log.ts'
import { describeServer } from '../../src/server/describe-server.ts'
import { run } from '../cli/process.ts'
import { engines } from '../engines.ts'
import every from './every.service.ts'

describe('the paths of a server', () => {
  it('has health, metrics, Connect and the Open Inference Protocol, with what auth asks and the version', async () => {
    const echo = { name: 'echo', input: new io.Text(), output: new io.Text() }
    const openapi = { include: ['health', 'metrics', 'connect', 'oip'] } as const
    const options = {
      version: '3.1.4',
      auth: apiKey({ keys: ['0'.repeat(64)] }),
      publicPaths: ['/metrics'],
      openapi,
    }
    const svc = new ServiceClass('protected', options)
    svc.api(echo, (text: string) => text)
    const { info, paths, tags } = JSON.parse(JSON.stringify(await describeServer(svc, '/v1')))
    expect(info.version).toBe('3.1.4')
    expect(tags.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining([
        'protected',
        'Connect',
        'Open Inference Protocol',
        'health',
        'metrics',
      ]),
    )
    const at = (path: string, method: string) => paths[path][method]
    expect(at('/v2/models/{model}/infer', 'post')).toMatchObject({
      parameters: [{ name: 'model', in: 'path', required: true }],
      security: [{ apiKey: [] }, { bearer: [] }],
    })
    expect(at('/serving.v1.ServingService/Call', 'post').operationId).toBe(
      'serving_v1_ServingService_Call',
    )
    expect(paths['/metrics'].servers).toEqual([{ url: '/' }])
    for (const open of ['/metrics', '/livez', '/readyz', '/v2/health/live'])
      expect(paths[open].get.security).toBeUndefined()
    expect(
      await new Validator().validate(JSON.parse(JSON.stringify(await describeServer(svc, '/v1')))),
    ).toMatchObject({
      valid: true,
    })
  })

  it.each(engines)(
    'has no path that the server does not answer, with the engine %s',
    async (engine) => {
      const listener = await serve(every, {
        port: 0,
        host: '127.0.0.1',
        engine,
        logger: silentLogger(() => {}),
      })
      try {
        const base = `http://127.0.0.1:${listener.port}`
        const { paths, ...rest } = (await (await fetch(`${base}/openapi.json`)).json()) as {
          readonly paths: Readonly<Record<string, Record<string, unknown>>>
        }
        expect(paths).toEqual(JSON.parse(JSON.stringify((await describeServer(every, '')).paths)))
        expect(rest).toBeDefined()
        for (const [path, item] of Object.entries(paths)) {
          for (const method of Object.keys(item).filter(
            (each) => each === 'get' || each === 'post',
          )) {
            const body = method === 'post' ? '' : undefined
            const answer = await fetch(base + path.replaceAll(/\{\w+\}/g, 'x'), { method, body })
            const text = await answer.text()
            expect({
              path,
              method,
              wrong: [405, 501].includes(answer.status) || /expected a path/.test(text),
            }).toEqual({
              path,
              method,
              wrong: false,
            })
          }
        }
      } finally {
        await listener.close()
      }
    },
  )
})

describe('a server', () => {
  const start = async (options: object) => {
    const svc = new ServiceClass('one')
    svc.api(
      { input: new io.NumpyNdarray(), output: new io.NumpyNdarray() },
      function same(x: NDArray) {
        return x
      },
    )
    const logger = silentLogger(() => {})
    return serve(svc, { port: 0, host: '127.0.0.1', logger, ...options })
  }

  it.each(engines)('has its documents below the base URL, on %s', async (engine) => {
    const listener = await start({ engine, baseUrl: '/v1' })
    try {
      const url = `http://127.0.0.1:${listener.port}/v1/openapi.json`
      const response = await fetch(url)
      const etag = response.headers.get('etag') as string
      expect(await response.json()).toMatchObject({
        servers: [{ url: '/v1' }],
        paths: { '/same': {} },
      })
      const again = await fetch(url, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
      const head = await fetch(url, { method: 'HEAD' })
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, ''])
      expect((await fetch(url, { method: 'POST' })).status).toBe(405)
    } finally {
      await listener.close()
    }
  })

  it('has none where they are switched off', async () => {
    const listener = await start({ docs: false })
    try {
      for (const path of ['openapi.json', 'docs.json']) {
        expect((await fetch(`http://127.0.0.1:${listener.port}/${path}`)).status).toBe(404)
      }
    } finally {
      await listener.close()
    }
  })
})

describe('serving openapi', () => {
  it('prints the document of a service without starting it', async () => {
    const { code, stdout, stderr } = await run([
      'openapi',
      'test/openapi/every.service.ts',
      '--base-url',
      '/v1',
    ])
    expect([code, stderr]).toEqual([0, ''])
    const { info, ...rest } = JSON.parse(JSON.stringify(await describeServer(every, '/v1')))
    // The version of the package.json above the file.
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(JSON.parse(stdout)).toEqual({ info: { ...info, version }, ...rest })
  })

  it('says what is wrong with a file', async () => {
    const { code, stdout, stderr } = await run(['openapi', 'nothing.ts'])
    expect([code, stdout, stderr]).toEqual([1, '', 'serving: there is no file nothing.ts\n'])
  })
})
