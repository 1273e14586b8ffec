/**
 * From a tarball to a running build, as a user goes: `serving new` in an empty folder, install, dev, an edit that is
 * served (the digits example is added), test, types, serve, build, and the build alone. Once for each package manager.
 *
 * Run: `npm run build && node scripts/new-project.mjs`, with names of cases for some of them: npm, npm-ignore-scripts,
 * pnpm, yarn. Takes pnpm 10 and yarn 4 from the registry. `--keep FOLDER` leaves the last project there, built:
 * scripts/chain.sh goes on from it to a container.
 */
import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'serving-new-'))
const { PATH, HOME, npm_config_cache: cache } = process.env
const env = {
  PATH,
  HOME,
  CI: '1',
  YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  npm_config_loglevel: 'error',
}
if (cache !== undefined) env.npm_config_cache = cache
// Yarn does not read npm's configuration.
const npmConfig = (name) =>
  execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim()
env.YARN_NPM_REGISTRY_SERVER = npmConfig('registry')
const authority = [process.env.NODE_EXTRA_CA_CERTS, npmConfig('cafile')].find(
  (file) => file && file !== 'null',
)
if (authority !== undefined) {
  env.YARN_HTTPS_CA_FILE_PATH = authority
  env.NODE_EXTRA_CA_CERTS = authority
}

// Its installation would download what CUDA needs.
env.ONNXRUNTIME_NODE_INSTALL = 'skip'

// Commands that install what package.json names, that add packages, and that run a script.
const quiet = '--no-audit --no-fund'
const cases = {
  npm: [`npm install ${quiet}`, `npm install ${quiet}`, 'npm run'],
  'npm-ignore-scripts': [
    `npm install --ignore-scripts ${quiet}`,
    `npm install --ignore-scripts ${quiet}`,
    'npm run',
  ],
  pnpm: ['npx -y pnpm@10 install', 'npx -y pnpm@10 add', 'npx -y pnpm@10 run'],
  yarn: [
    'npx -y @yarnpkg/cli-dist@4 install',
    'npx -y @yarnpkg/cli-dist@4 add',
    'npx -y @yarnpkg/cli-dist@4 run',
  ],
}
const options = { allowPositionals: true, options: { keep: { type: 'string' } } }
const { positionals, values } = parseArgs(options)
const chosen = positionals.length > 0 ? positionals : Object.keys(cases)

function sh(command, cwd) {
  const begun = Date.now()
  try {
    const text = execFileSync('sh', ['-c', command], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const last = text.trim().split('\n').at(-1) ?? ''
    const seconds = ((Date.now() - begun) / 1000).toFixed(1)
    console.log(`  ${seconds} s  ${command.replace(work, '…')}  ${last.slice(0, 100)}`)
    return text
  } catch (error) {
    throw new Error(`${command}\n${error.stdout}\n${error.stderr}`)
  }
}

const flowers = { headers: { 'content-type': 'application/json' }, body: '[[5.1, 3.5, 1.4, 0.2]]' }
const picture = readFileSync(
  join(root, 'examples/digits/held-out/7-blue-on-cream-200x150-rgb-29.png'),
)
const digit = { headers: { 'content-type': 'image/png' }, body: picture }

async function ask(port, path, request, expected) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', ...request })
  const answer = await response.text()
  if (!answer.startsWith(expected))
    throw new Error(`expected ${expected} of ${path}, received ${response.status} ${answer}`)
  console.log(`  ${path}: ${answer.slice(0, 60)}`)
}

async function serves(command, args, cwd, use) {
  const child = spawn(command, [...args, '--port', '0', '--host', '127.0.0.1', '--workers', '1'], {
    cwd,
    env,
  })
  let [text, errors] = ['', '']
  const begun = performance.now()
  try {
    child.stderr.on('data', (part) => {
      errors += part
    })
    const port = await new Promise((resolve, reject) => {
      child.stdout.on('data', (part) => {
        text += part
        const found = /127\.0\.0\.1:(\d+)/.exec(text)
        if (found !== null) resolve(Number(found[1]))
      })
      child.on('close', (code) =>
        reject(new Error(`${command} ${args.join(' ')} ended with ${code}\n${text}${errors}`)),
      )
    })
    const startMs = Math.round(performance.now() - begun)
    console.log(`  ready after ${startMs} ms: ${[command, ...args].join(' ').replace(work, '…')}`)
    await ask(port, '/classify', flowers, '["setosa"]')
    await use?.(port)
  } finally {
    child.removeAllListeners('close')
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    if (child.exitCode === null) await ended
  }
}

async function addDigits(demo, port) {
  for (const file of ['apis.ts', 'digits.ts', 'model.onnx', 'held-out']) {
    cpSync(join(root, 'examples/digits', file), join(demo, file), { recursive: true })
  }
  const service = join(demo, 'service.ts')
  const edited = readFileSync(service, 'utf8')
    .replace('\n\n', "\nimport { addDigitApis, digits } from './apis.ts'\n\n")
    .replace('runners: [model]', 'runners: [model, digits]')
    .replace('export default svc', 'addDigitApis(svc)\n\nexport default svc')
  const saved = performance.now()
  writeFileSync(service, edited)
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/classify_digit`, {
      method: 'POST',
      ...digit,
    })
    const answer = await response.text()
    if (answer.startsWith('{"digit":7,')) break
    if (performance.now() - saved > 60_000)
      throw new Error(`the edit is not served: ${response.status}`)
    await wait(20)
  }
  console.log(`  an edit is served after ${Math.round(performance.now() - saved)} ms`)
}

const asksBoth = (port) => ask(port, '/classify_digit', digit, '{"digit":7,')

try {
  sh(`npm pack --ignore-scripts --pack-destination ${work}`, root)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const tarball = join(work, `serving-${version}.tgz`)
  for (const name of chosen) {
    const [install, add, run] = cases[name]
    console.log(name)
    const folder = join(work, name)
    mkdirSync(folder)
    // As README says: the command straight from the tarball, in an empty folder.
    sh(`npx -y --package ${tarball} serving new demo`, folder)
    const demo = join(folder, 'demo')
    // A package manager must not take a folder above for the root of a workspace.
    if (name === 'yarn') writeFileSync(join(demo, 'yarn.lock'), '')
    sh(install, demo)
    const serving = join(demo, 'node_modules/.bin/serving')
    sh(`${add} onnxruntime-node@1.30 @napi-rs/image@1.15`, demo)
    await serves(serving, ['dev', 'service.ts'], demo, (port) => addDigits(demo, port))
    sh(`${run} types`, demo)
    sh('node_modules/.bin/tsc --noEmit --module esnext --moduleResolution bundler', demo)
    const tested = sh(`${run} test`, demo)
    if (!/pass 2\b/.test(tested)) throw new Error(`expected two tests to pass\n${tested}`)
    await serves(serving, ['serve', 'service.ts'], demo, asksBoth)
    sh(`${run} build`, demo)
    const alone = join(work, `${name}-alone`)
    cpSync(join(demo, 'build'), alone, { recursive: true })
    if (values.keep !== undefined)
      cpSync(demo, values.keep, { recursive: true, verbatimSymlinks: true })
    rmSync(folder, { recursive: true })
    await serves(process.execPath, ['main.js'], alone, asksBoth)
    for (const tool of ['tsx', 'esbuild', 'typescript']) {
      if (existsSync(join(alone, 'node_modules', tool))) throw new Error(`the build holds ${tool}`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
