/**
 * From a tarball to a running build, as a user goes: `serving new` in an empty folder, install, types, test, dev, serve,
 * build, and the build alone. Once for each package manager.
 *
 * Run: `npm run build && node scripts/new-project.mjs`, with names of cases for some of them: npm, npm-ignore-scripts,
 * pnpm, yarn. Takes pnpm 10 and yarn 4 from the registry.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'serving-new-'))
const { PATH, HOME, npm_config_cache: cache } = process.env
const env = { PATH, HOME, CI: '1', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false', npm_config_loglevel: 'error' }
if (cache !== undefined) env.npm_config_cache = cache
// Yarn does not read npm's configuration.
const npmConfig = (name) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim()
env.YARN_NPM_REGISTRY_SERVER = npmConfig('registry')
const authority = [process.env.NODE_EXTRA_CA_CERTS, npmConfig('cafile')].find((file) => file && file !== 'null')
if (authority !== undefined) {
  env.YARN_HTTPS_CA_FILE_PATH = authority
  env.NODE_EXTRA_CA_CERTS = authority
}

const cases = {
  npm: ['npm install --no-audit --no-fund', 'npm run'],
  'npm-ignore-scripts': ['npm install --ignore-scripts --no-audit --no-fund', 'npm run'],
  pnpm: ['npx -y pnpm@10 install', 'npx -y pnpm@10 run'],
  yarn: ['npx -y @yarnpkg/cli-dist@4 install', 'npx -y @yarnpkg/cli-dist@4 run'],
}
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(cases)

/** Runs a command, and returns what it prints. */
function sh(command, cwd) {
  const begun = Date.now()
  try {
    const text = execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    console.log(`  ${((Date.now() - begun) / 1000).toFixed(1)} s  ${command}`)
    return text
  } catch (error) {
    throw new Error(`${command}\n${error.stdout}\n${error.stderr}`)
  }
}

/** Starts a server, asks it once, and ends it by SIGTERM. */
async function answers(command, args, cwd) {
  const child = spawn(command, [...args, '--port', '0', '--host', '127.0.0.1', '--workers', '1'], { cwd, env })
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
    const response = await fetch(`http://127.0.0.1:${port}/classify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[[5.1, 3.5, 1.4, 0.2]]',
    })
    const answer = await response.text()
    if (answer !== '["setosa"]') throw new Error(`expected ["setosa"], received ${response.status} ${answer}`)
    console.log(`  answers after ${startMs} ms: ${[command, ...args].join(' ').replace(work, '…')}`)
  } finally {
    child.removeAllListeners('close')
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    if (child.exitCode === null) await ended
  }
}

try {
  sh(`npm pack --ignore-scripts --pack-destination ${work}`, root)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const tarball = join(work, `serving-${version}.tgz`)
  for (const name of chosen) {
    const [install, run] = cases[name]
    console.log(name)
    const folder = join(work, name)
    mkdirSync(folder)
    // As README says: the command straight from the tarball, in an empty folder.
    sh(`npx -y --package ${tarball} serving new demo`, folder)
    const demo = join(folder, 'demo')
    // A package manager must not take a folder above for the root of a workspace.
    if (name === 'yarn') writeFileSync(join(demo, 'yarn.lock'), '')
    sh(install, demo)
    sh(`${run} types`, demo)
    sh('node_modules/.bin/tsc --noEmit --module esnext --moduleResolution bundler', demo)
    const tested = sh(`${run} test`, demo)
    if (!/pass 2\b/.test(tested)) throw new Error(`expected two tests to pass\n${tested}`)
    const serving = join(demo, 'node_modules/.bin/serving')
    await answers(serving, ['dev', 'service.ts'], demo)
    await answers(serving, ['serve', 'service.ts'], demo)
    sh(`${run} build`, demo)
    const alone = join(work, `${name}-alone`)
    cpSync(join(demo, 'build'), alone, { recursive: true })
    rmSync(folder, { recursive: true })
    await answers(process.execPath, ['main.js'], alone)
    for (const tool of ['tsx', 'esbuild', 'typescript']) {
      if (existsSync(join(alone, 'node_modules', tool))) throw new Error(`the build holds ${tool}`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
