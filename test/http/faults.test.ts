import { connect } from 'node:net'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { parseLimits } from '../../src/engine/options.ts'
import { attachProtocols } from '../../src/server/built-in-protocols.ts'
import { pickEngine } from '../../src/server/listener.ts'
import { createServerState } from '../../src/server/server-state.ts'
import { Service } from '../../src/service.ts'
import { bytes, engines, post } from './harness.ts'

it.each(engines)('a request whose observer fails stays in no count on %s', async (engine) => {
  const svc = new Service('s')
  svc.api({ ...bytes, name: 'echo' }, (body) => body)
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const onBegin = () => {
    throw new Error('this observer failed')
  }
  const disclosure = { introspection: false, docs: false }
  const server = await createServerState(svc, parseLimits({}), '', log, disclosure, {
    composition: {
      attach: (host) => attachProtocols(host, svc, { docs: false, metrics: [] }),
      observers: [{ onBegin }],
      unready: undefined,
    },
  })
  server.health.state = 'ready'
  const listening = await pickEngine(engine, log)(server, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => listening.close())
  const socket = connect(listening.port, '127.0.0.1')
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write(post('/echo', 'x'))
  await closed
  expect(JSON.stringify(lines)).toContain('this observer failed')
  expect(server.limiter.open).toBe(0)
})
