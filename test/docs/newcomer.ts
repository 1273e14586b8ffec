/**
 * Goes the ways of a newcomer by the lines and programs of the documents alone, from a packed tarball in empty folders,
 * and tells the seconds of each: the first service, a picture to a label by ONNX with a typed client, typed routes in
 * an Express application, and a container. Nothing compares the times. What is not installed here is skipped by name.
 *
 * Run: `npm run build && npx tsx test/docs/newcomer.ts [service|picture|express|container]...`
 * @module
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from '../cli/process.ts'
import { freePort } from '../io/free-port.ts'
import { codeBlocks, textOf } from './markdown.ts'

const work = mkdtempSync(join(tmpdir(), 'serving-newcomer-'))
const { PATH = '', HOME = '', npm_config_cache: cache } = process.env
const environment = { PATH, HOME, CI: '1', ...(cache !== undefined && { npm_config_cache: cache }) }

/** A shell in a folder, with the servers that its lines have started. */
class Shell {
  #cwd: string
  #port = 0
  #output = ''
  readonly #servers: ChildProcess[] = []

  constructor(name: string) {
    this.#cwd = join(work, name)
    mkdirSync(this.#cwd)
  }

  path(file: string): string {
    return join(this.#cwd, file)
  }

  /** Runs a line, and follows it into the folder that it changes to. */
  run(line: string): void {
    console.log(`  $ ${line}`)
    const place = join(work, 'place')
    const command = `${this.#here(line)}\nstatus=$?; pwd >"${place}"; exit $status`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
      cwd: this.#cwd,
      env: { ...environment, SERVING_PORT: String(this.#port) },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${line} ended with ${status}\n${stdout}${stderr}`)
    this.#output = stdout
    this.#cwd = readFileSync(place, 'utf8').trim()
  }

  /** Starts a line that serves, and waits until it answers. */
  async serve(line: string, path = '/readyz'): Promise<void> {
    console.log(`  $ ${line}`)
    this.stop()
    this.#port = await freePort()
    const port = String(this.#port)
    const child = spawn('bash', ['-c', line], {
      cwd: this.#cwd,
      env: { ...environment, SERVING_PORT: port, PORT: port },
      stdio: 'ignore',
      detached: true,
    })
    this.#servers.push(child)
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${line} ended with ${child.exitCode}`)
      const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
      if (answer !== undefined && answer.status !== 503) return
      await wait(50)
    }
  }

  /** Does what the lines of a block say, and compares each answer with the comment below its line. */
  async follow(block: string): Promise<void> {
    for (const line of block.split('\n')) {
      const [, wanted] = /^# (.*)$/.exec(line) ?? []
      if (wanted !== undefined) this.expect(wanted)
      else if (/^(npm run dev|npx serving serve)\b/.test(line)) await this.serve(line)
      else if (line.trim() !== '') this.run(line.replace(/^curl /, 'curl -s '))
    }
  }

  /** @throws Error if the last output does not begin so. */
  expect(wanted: string): void {
    if (!this.#output.startsWith(wanted))
      throw new Error(`expected ${wanted}, received ${this.#output}`)
    console.log(`  ${wanted}`)
  }

  /** Writes a program of the documents, which asks the server that runs. */
  write(file: string, text: string): void {
    writeFileSync(this.path(file), this.#here(text))
  }

  #here(text: string): string {
    return text.replaceAll('localhost:3000', `127.0.0.1:${this.#port}`)
  }

  stop(): void {
    for (const { pid } of this.#servers.splice(0)) {
      try {
        // With the processes of npm and of its shell.
        if (pid !== undefined) process.kill(-pid, 'SIGTERM')
      } catch {}
    }
  }
}

/** Returns the block of a page that has this line. */
function blockWith(page: string, line: string): string {
  const block = codeBlocks(page).find(({ code }) => code.includes(line))
  if (block === undefined) throw new Error(`${page} has no block with ${line}`)
  return block.code
}

/** Returns the programs of a page that lie in a folder of the snippets. */
function programsOf(page: string, folder: string): string[] {
  return [...textOf(page).matchAll(/^<<< \S*\/snippets\/(\S+)/gm)]
    .map(([, file]) => file)
    .filter((file) => file.startsWith(`${folder}/`))
    .map((file) => join(root, 'docs/snippets', file))
}

const started = 'docs/guide/getting-started.md'
const tarball = 'serving-0.1.0.tgz'

/** A project as the first page makes one. */
async function project(shell: Shell): Promise<void> {
  copyFileSync(join(work, tarball), shell.path(tarball))
  await shell.follow(blockWith(started, 'serving new demo').replace(/^npm run dev$/m, ''))
}

const ways: Readonly<Record<string, (shell: Shell) => Promise<void>>> = {
  async service(shell) {
    copyFileSync(join(work, tarball), shell.path(tarball))
    await shell.follow(blockWith(started, 'serving new demo'))
    const asks = codeBlocks(started).filter(({ code }) => /^curl .*\/classify\n# \[/.test(code))
    await shell.follow(asks.at(-1)?.code ?? '')
    shell.expect('["setosa"]')
  },

  async picture(shell) {
    const page = 'docs/recipes/picture-onnx.md'
    await project(shell)
    await shell.follow(blockWith(page, 'npm install @napi-rs/image'))
    for (const [, file, copy] of textOf(page).matchAll(/`(examples\/[^`]*)` to `([^`]*)`/g))
      copyFileSync(join(root, file), shell.path(copy))
    const programs = programsOf(page, 'label')
    const write = () => {
      for (const file of programs) shell.write(basename(file), readFileSync(file, 'utf8'))
    }
    write()
    await shell.follow(blockWith(page, 'npx serving serve label.ts'))
    // Again, for the port of the server.
    write()
    shell.run('npx tsx client.ts')
    shell.expect('star true')
    shell.run('npm run types')
    await shell.follow(blockWith(page, 'npx tsx --test label.test.ts'))
  },

  async express(shell) {
    const page = 'docs/guide/frameworks.md'
    copyFileSync(join(work, tarball), shell.path(tarball))
    // What was there before: an application with a route of its own.
    shell.run('npm init --yes >/dev/null && npm pkg set type=module && npm install express@5')
    const [add] = /`(npm install \.\/serving-[^`]*)`/.exec(textOf(started))?.slice(1) ?? []
    shell.run(add)
    shell.run('npm install --save-dev tsx@4 typescript@5 @types/node@20 @types/express@5')
    const [scale, application] = programsOf(page, 'io').map((file) => readFileSync(file, 'utf8'))
    shell.write('scale.ts', scale)
    const second = application.replace(
      /^(app\.post\()'\/scale'(.*)$/m,
      (line, head, rest) =>
        `${line}\n${head}'/again'${rest}\napp.get('/', (_, res) => void res.send('mine'))`,
    )
    shell.write('express.ts', second)
    await shell.serve('npx tsx express.ts', '/')
    const body = `-H 'content-type: application/json' -d '[[1,2.5]]' localhost:3000`
    for (const path of ['/scale', '/again']) {
      shell.run(`curl -s ${body}${path}`)
      shell.expect('[[2.0,5.0]]')
    }
    const flags = '--module nodenext --target es2023 --allowImportingTsExtensions --skipLibCheck'
    shell.run(`npx tsc --noEmit --strict ${flags} express.ts`)
  },

  // Makes the images below it by itself, so that no registry of images is needed.
  async container() {
    execFileSync(join(root, 'scripts/chain.sh'), { stdio: 'inherit' })
  },
}

try {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  if (tarball !== `serving-${version}.tgz`) throw new Error(`the documents name ${tarball}`)
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', work]
  execFileSync('npm', pack, { cwd: root })
  const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(ways)
  const times: string[] = []
  for (const name of chosen) {
    console.log(name)
    const shell = new Shell(name)
    const begun = performance.now()
    try {
      await ways[name](shell)
    } finally {
      shell.stop()
    }
    times.push(`${name}: ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  }
  console.log(times.join('\n'))
} finally {
  rmSync(work, { recursive: true, force: true })
}
