import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engines } from '../engines.ts'
import {
  type Answer,
  answeringPid,
  folder,
  heldRequest,
  probe,
  root,
  send,
  serveFile,
  serving,
  until,
  workerPids,
} from './process.ts'

/** Whether a process runs; a dead one whose parent has not asked for its exit code yet does not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe.each(engines)('a stop, with the %s engine', (engine) => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s lets running requests finish and refuses new ones',
    async (signal) => {
      const { port, child, exited, stderr } = await serveFile(probe, [
        '--workers',
        '2',
        '--engine',
        engine,
      ])
      const held = await heldRequest(port)
      child.kill(signal)
      const refused = await until(async () => {
        const answer = await send(port, '/pid', 'x')
        return answer.status !== 200 && answer
      })
      expect([0, 503]).toContain(refused.status)
      held.release()
      expect(await held.answer).toEqual({ status: 200, body: 'held' })
      expect(await exited).toEqual({ code: 0, signal: null })
      expect(stderr()).toContain(`"event":"drain","signal":"${signal}"`)
    },
  )

  it('sent to the whole process group, as a terminal does, is the same', async () => {
    const { port, child, exited } = await serveFile(probe, ['--workers', '1', '--engine', engine])
    const held = await heldRequest(port)
    const [worker] = await workerPids(port, 1)
    process.kill(worker, 'SIGINT')
    child.kill('SIGINT')
    await until(async () => (await send(port, '/pid', 'x')).status !== 200)
    held.release()
    expect((await held.answer).body).toBe('held')
    expect((await exited).code).toBe(0)
  })

  it('gives up on requests that run longer than the drain timeout', async () => {
    const { port, child, exited } = await serveFile(probe, [
      '--workers',
      '1',
      '--engine',
      engine,
      '--drain-timeout-ms',
      '200',
    ])
    const held = await heldRequest(port)
    child.kill('SIGTERM')
    expect(await exited).toEqual({ code: 0, signal: null })
    expect((await held.answer).status).not.toBe(200)
  })
})

describe('a stop', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('by a second %s is immediate', async (signal, code) => {
    const { port, child, exited, stderr } = await serveFile(probe, ['--workers', '1'])
    const held = await heldRequest(port)
    const [worker] = await workerPids(port, 1)
    child.kill(signal)
    await until(() => stderr().includes('"event":"drain"'))
    await until(() => {
      // Again and again, since a repetition within a moment counts as the same signal.
      child.kill(signal)
      return child.exitCode !== null
    })
    expect((await exited).code).toBe(code)
    expect((await held.answer).status).toBe(0)
    await until(() => !isAlive(worker))
  })

  it('by SIGTERM waits for load balancers where it was told to, by SIGINT does not', async () => {
    const flags = ['--workers', '1', '--drain-delay-ms', '60000']
    const behindProxy = await serveFile(probe, flags)
    behindProxy.child.kill('SIGTERM')
    const ready = () => fetch(`http://127.0.0.1:${behindProxy.port}/readyz`)
    await until(async () => (await ready()).status === 503)
    expect((await send(behindProxy.port, '/pid', 'x')).status).toBe(200)
    await until(() => {
      behindProxy.child.kill('SIGINT')
      return behindProxy.child.exitCode !== null
    })
    expect((await behindProxy.exited).code).toBe(130)

    const inTerminal = await serveFile(probe, flags)
    inTerminal.child.kill('SIGINT')
    expect(await inTerminal.exited).toEqual({ code: 0, signal: null })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s during the start runs the shutdown hooks',
    async (signal) => {
      const file = join(folder({}), 'start')
      const service = join(root, 'test/cli/services/slow-start.service.ts')
      const args = ['serve', service, '--port', '0', '--workers', '1']
      const { child, exited, stdout, stderr } = serving(args, { env: { START_FILE: file } })
      await until(() => existsSync(`${file}.begun`))
      child.kill(signal)
      await until(() => stderr().includes('"event":"drain"'))
      writeFileSync(file, '')
      expect(await exited).toEqual({ code: 0, signal: null })
      expect(existsSync(`${file}.stopped`)).toBe(true)
      expect(stdout()).toBe('')
    },
  )

  it('by SIGTERM before the command has loaded its code ends the first worker without a word', async () => {
    const file = `${folder({ 'service.mjs': "export { default } from 'serving/none'" }, true)}/service.mjs`
    for (let ms = 40; ms <= 200; ms += 20) {
      const { child, exited, stderr } = serving(['serve', file, '--port', '0'])
      await wait(ms)
      child.kill('SIGTERM')
      // Resolves when the worker, which has the same pipes, has ended, too.
      await exited
      expect(stderr(), `${ms} ms`).not.toContain('EPIPE')
    }
  })

  it('by SIGTERM while a model is loaded waits for no model', async () => {
    const file = join(folder({}), 'start')
    const service = join(root, 'test/cli/services/endless-model.service.ts')
    // Longer than the test: who waits for the model fails it.
    const args = ['serve', service, '--port', '0', '--workers', '2', '--drain-timeout-ms', '600000']
    const { child, exited, stderr } = serving(args, { env: { START_FILE: file } })
    await until(() => existsSync(`${file}.begun`))
    child.kill('SIGTERM')
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(existsSync(`${file}.stopped`)).toBe(true)
    expect(stderr()).not.toContain('"level":50')
  })

  it('by SIGTERM of npm, which reaches only the shell of its script, ends everything', async () => {
    const script = `node dist/cli/main.js serve ${probe} --port 0 --workers 1; true`
    const env = { PATH: process.env.PATH, npm_lifecycle_event: 'start' }
    const shell = spawn('sh', ['-c', script], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let text = ''
    shell.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const port = Number(await until(() => /^serving .*localhost:(\d+)/m.exec(text)?.[1]))
    const [worker] = await workerPids(port, 1)
    onTestFinished(() => {
      if (isAlive(worker)) process.kill(worker, 'SIGKILL')
    })
    shell.kill('SIGTERM')
    await until(() => !isAlive(worker))
    expect((await send(port, '/pid', 'x')).status).toBe(0)
  })

  it('makes each worker say that it is not ready', async () => {
    const { port, child } = await serveFile(probe, ['--workers', '1'])
    expect((await send(port, '/readyz')).status).toBe(200)
    const held = await heldRequest(port)
    child.kill('SIGTERM')
    await until(async () => (await send(port, '/readyz')).status === 503)
    expect((await send(port, '/livez')).status).toBe(200)
    held.release()
    await held.answer
  })
})

describe('a worker', () => {
  it.each(engines)(
    'that is killed is replaced while the other keeps answering, with the %s engine',
    async (engine) => {
      const { port, stderr } = await serveFile(probe, ['--workers', '2', '--engine', engine])
      const [victim, other] = await workerPids(port, 2)
      const answers: Answer[] = []
      let asking = true
      const clients = Array.from({ length: 4 }, async () => {
        while (asking) answers.push(await send(port, '/pid', 'x'))
      })
      process.kill(victim, 'SIGKILL')
      const pids = new Set<number>()
      await until(async () => {
        const pid = await answeringPid(port)
        if (pid !== undefined) pids.add(pid)
        return pids.has(other) && [...pids].some((each) => each !== other && each !== victim)
      })
      asking = false
      await Promise.all(clients)
      // Each client loses at most the request that the dead worker held, and one that was still in its queue.
      expect(answers.filter(({ status }) => status !== 200).length).toBeLessThanOrEqual(8)
      expect(answers.filter(({ status }) => status !== 200 && status !== 0)).toEqual([])
      expect(stderr()).toContain('was ended by SIGKILL; the next one starts in 100 ms')
    },
  )

  it.each(engines)(
    'that starts again takes nothing before it is ready, with gRPC and the %s engine',
    async (engine) => {
      const { port } = await serveFile(probe, [
        '--workers',
        '2',
        '--engine',
        engine,
        '--grpc-port',
        '0',
      ])
      const answers: Answer[] = []
      let asking = true
      const clients = Array.from({ length: 8 }, async () => {
        while (asking) answers.push(await send(port, '/pid', 'x'))
      })
      const killed: number[] = []
      for (let kills = 0; kills < 3; kills++) {
        const running = await until(async () => {
          const pids = (await workerPids(port, 2)).filter((pid) => !killed.includes(pid))
          return pids.length === 2 && pids
        })
        process.kill(running[0], 'SIGKILL')
        killed.push(running[0])
      }
      await until(async () => (await workerPids(port, 2)).every((pid) => !killed.includes(pid)))
      asking = false
      await Promise.all(clients)
      expect(answers.filter(({ status }) => status === 503)).toEqual([])
      expect(answers.length).toBeGreaterThan(100)
    },
  )

  it('that throws outside of a request finishes what runs, and is replaced', async () => {
    const { port, stderr } = await serveFile(probe, ['--workers', '1'])
    const held = await heldRequest(port)
    const [before] = await workerPids(port, 1)
    expect((await send(port, '/crash', 'x')).status).toBe(200)
    await until(() => stderr().includes('thrown outside of any request'))
    held.release()
    expect(await held.answer).toEqual({ status: 200, body: 'held' })
    const after = await until(async () => {
      const pid = await answeringPid(port)
      return pid !== before && pid
    })
    expect(after).not.toBe(before)
    expect(stderr()).toContain('exited with code 1')
  })

  it('whose supervisor is killed finishes what runs, and exits', async () => {
    const { port, child } = await serveFile(probe, ['--workers', '1'])
    const held = await heldRequest(port)
    const [worker] = await workerPids(port, 1)
    child.kill('SIGKILL')
    held.release()
    expect(await held.answer).toEqual({ status: 200, body: 'held' })
    await until(() => !isAlive(worker))
  })
})
