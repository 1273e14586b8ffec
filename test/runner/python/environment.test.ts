import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidArgument, Runner, SetupError } from 'serving'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { pythonExecutable } from '../../../src/runner/python/environment.ts'
import { failureOf } from '../runner.ts'
import { hasPython } from './python.ts'

// Installing takes half a minute: only where PYTHON asks for all tests of Python.
const isConfigured = hasPython && process.env.PYTHON !== undefined
const hasVenv =
  isConfigured &&
  spawnSync('python3', ['-c', 'import ensurepip, venv'], { stdio: 'ignore' }).status === 0

const condas = ['micromamba', 'mamba', 'conda']
const conda = condas.find((name) => spawnSync(name, ['--version']).status === 0)

interface Greeter {
  greet(name: string): string
  prefix(): string
}

// A package without dependencies, so that nothing is downloaded.
const makeWheel = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/greeter-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("greeter.py", "def greet(name):\\n    return f'Hello, {name}!'\\n")
    wheel.writestr("greeter-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: greeter\\nVersion: 1.0\\n")
    tags = "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    wheel.writestr("greeter-1.0.dist-info/WHEEL", tags)
    wheel.writestr("greeter-1.0.dist-info/RECORD", "")`

it('a model in Python is refused on Windows, whatever its environment', async () => {
  const settings = { executable: 'C:\\Python\\python.exe', packages: undefined, conda: undefined }
  const failure = await failureOf(
    pythonExecutable('the runner greeter', settings, undefined, 'win32'),
  )
  expect(failure).toBeInstanceOf(InvalidArgument)
  expect(failure.message).toBe(
    'expected Linux or macOS for the model in Python of the runner greeter, found Windows: ' +
      'serve it in a container or in the Windows Subsystem for Linux',
  )
})

it.skipIf(conda === undefined)(
  'environments of conda have packages of the channels that are named, and of no others (needs conda)',
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'serving-conda-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'))
    vi.stubEnv('CONDA_PKGS_DIRS', join(folder, 'packages'))
    onTestFinished(() => void vi.unstubAllEnvs())
    const channel = fileURLToPath(new URL('./make_channel.py', import.meta.url))
    expect(spawnSync('python3', [channel, join(folder, 'channel')]).status).toBe(0)
    const channels = [`file://${folder}/channel`, 'nodefaults']
    writeFileSync(join(folder, 'model.py'), 'from greeter import greet\n')
    const runner = (dependencies: readonly string[]) =>
      new Runner<Greeter>('greeter', {
        python: join(folder, 'model.py'),
        methods: { greet: {} },
        conda: { channels, dependencies },
      })
    const greeting = async (dependencies: readonly string[]) => {
      const greeter = runner(dependencies)
      await greeter.start()
      onTestFinished(() => greeter.stop())
      return await greeter.greet('Ada')
    }
    expect(await greeting(['greeter<2'])).toBe('Hello, Ada!')
    expect(await greeting(['python>=3.9', 'greeter >=2'])).toBe('Welcome, Ada!')
    const failure = await failureOf(runner(['python', 'nothing-of-this-name']).start())
    expect(failure).toBeInstanceOf(SetupError)
    const [start, printed] = failure.message.split(
      ' for the runner greeter, which could not be made:\n',
    )
    expect(start).toBe('expected an environment of Python with python, nothing-of-this-name')
    expect(printed).toMatch(/nothing-of-this-name.*create --yes ended with code 1$/s)
  },
)

describe.skipIf(!hasVenv)(
  'environments of Python (PYTHON names one; needs python3 with venv)',
  { timeout: 120_000 },
  () => {
    let folder: string
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'serving-python-'))
      vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'))
      spawnSync('python3', ['-c', makeWheel, folder])
      writeFileSync(
        join(folder, 'model.py'),
        'from greeter import greet\nimport sys\ndef prefix():\n    return sys.prefix\n',
      )
    })
    afterEach(() => {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true, force: true })
    })

    const wheel = () => join(folder, 'greeter-1.0-py3-none-any.whl')
    const runner = (options: object) =>
      new Runner<Greeter>('greeter', {
        python: join(folder, 'model.py'),
        methods: { greet: {}, prefix: {} },
        ...options,
      })
    const environments = () =>
      readdirSync(join(folder, 'cache/serving/python')).filter((name) => !name.endsWith('.lock'))

    it('say that they are made, with what the installer says, and how long it took; once', async () => {
      const told = async () => {
        const messages: string[] = []
        const greeter = runner({ packages: [wheel()] })
        greeter.watch(({ kind, message }) => messages.push(`${kind} ${message}`))
        await greeter.start()
        await greeter.stop()
        return messages
      }
      const messages = await told()
      expect(messages[0]).toMatch(
        /^environment making an environment of Python with \S+whl for the runner greeter \(\d+ s\): \S+ (-m )?venv /,
      )
      expect(messages.at(-1)).toMatch(
        /^environment made an environment of Python for the runner greeter in \d+ s$/,
      )
      expect(await told()).toEqual([])
    })

    it('are made of packages once, also by several at the same time, and again when one was broken off', async () => {
      const both = [runner({ packages: [wheel()] }), runner({ packages: [wheel()] })]
      await Promise.all(both.map((each) => each.start()))
      expect(await Promise.all(both.map((each) => each.greet('Ada')))).toEqual([
        'Hello, Ada!',
        'Hello, Ada!',
      ])
      const prefix = await both[0].prefix()
      expect(environments().map((name) => join(folder, 'cache/serving/python', name))).toEqual([
        prefix,
      ])
      await Promise.all(both.map((each) => each.stop()))
      const leftover = join(prefix, 'leftover')
      writeFileSync(leftover, '')
      const again = runner({ packages: [wheel()] })
      await again.start()
      expect(existsSync(leftover)).toBe(true)
      await again.stop()
      rmSync(join(prefix, 'serving-complete'))
      const last = runner({ packages: [wheel()] })
      await last.start()
      expect(existsSync(leftover)).toBe(false)
      expect(await last.greet('Grace')).toBe('Hello, Grace!')
      await last.stop()
    })

    it('have the packages that the build configuration names as well', async () => {
      vi.stubEnv('SERVING_PYTHON_PACKAGES', JSON.stringify([wheel()]))
      const plain = runner({})
      await plain.start()
      expect(await plain.greet('Ada')).toBe('Hello, Ada!')
      await plain.stop()
    })

    it('end the start with the last lines of the installer when a package is not there', async () => {
      const failure = await failureOf(
        runner({ packages: ['/nowhere/none-1.0-py3-none-any.whl'] }).start(),
      )
      expect(failure).toBeInstanceOf(SetupError)
      expect(failure.message).toMatch(
        /^expected an environment of Python with \/nowhere\/none.* for the runner greeter,/,
      )
      expect(failure.message).toMatch(/none-1.0-py3-none-any\.whl.*\n.*ended with code 1$/s)
    })

    it('are broken off, installer and all, when the runner stops meanwhile', async () => {
      let connections = 0
      const silent = createServer(() => connections++).listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const { port } = silent.address() as AddressInfo
      const stopped = runner({ packages: [`--index-url=http://127.0.0.1:${port}/`, 'greeter'] })
      const failure = failureOf(stopped.start())
      const [socket] = await once(silent, 'connection')
      const closed = once(socket.resume(), 'close')
      await stopped.stop()
      expect((await failure).message).toContain('which could not be made')
      await closed
      // The installer would try again.
      expect(connections).toBe(1)
      silent.close()
    })

    it('of conda need one of its programs', async () => {
      const path = spawnSync(
        'python3',
        ['-c', 'import os, sys; print(os.path.dirname(sys.executable))'],
        {
          encoding: 'utf8',
        },
      )
      vi.stubEnv('PATH', path.stdout.trim())
      if (condas.some((name) => spawnSync(name).error === undefined)) return
      const failure = await failureOf(runner({ conda: { dependencies: ['numpy'] } }).start())
      expect(failure.message).toMatch(
        /packages of conda need micromamba, mamba or conda on the PATH, and none is there$/,
      )
    })
  },
)
