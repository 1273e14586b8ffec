/**
 * Has a real kube-apiserver, with the kinds of KServe, KEDA and Prometheus' operator, check every manifest that
 * `serving deploy --print` prints, under strict validation; and the fixtures of `npm test` against the schemas that the
 * server publishes. The server is built from Go's module proxy: ten minutes the first time, then 20 seconds.
 *
 * Run: `npm run build && node scripts/check-manifests.mjs [FOLDER]`, where FOLDER (default /var/tmp/serving-kube) keeps
 * what was built; `--write` renews test/fixtures/kubernetes/schemas.json. Needs Go, etcd and openssl.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { fixtureOf } from '../test/fixtures/kubernetes/fixture.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean' } },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const cache = positionals[0] ?? '/var/tmp/serving-kube'
const fixture = join(root, 'test/fixtures/kubernetes/schemas.json')
for (const [program, flag] of [
  ['go', 'version'],
  ['etcd', '--version'],
  ['openssl', 'version'],
]) {
  if (spawnSync(program, [flag]).status === 0) continue
  console.log(`skipped: ${program} is not installed`)
  process.exit(0)
}

const kubernetes = 'k8s.io/kubernetes@v1.36.3'
const kserve = 'github.com/kserve/kserve@v0.20.0'
const keda = 'github.com/kedacore/keda/v2@v2.18.0'
const operator = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
const crds = [
  [kserve, 'config/crd/full/serving.kserve.io_servingruntimes.yaml'],
  [kserve, 'config/crd/full/serving.kserve.io_inferenceservices.yaml'],
  [keda, 'config/crd/bases/keda.sh_scaledobjects.yaml'],
  [operator, 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml'],
]

function moduleFolder(module) {
  const printed = execFileSync('go', ['mod', 'download', '-json', module], {
    cwd: tmpdir(),
    encoding: 'utf8',
  })
  return JSON.parse(printed).Dir
}

function buildServer() {
  const source = join(cache, kubernetes.replace(/^.*@/, ''))
  const binary = join(source, 'kube-apiserver')
  if (existsSync(binary)) return binary
  mkdirSync(source, { recursive: true })
  const staging = readFileSync(join(moduleFolder(kubernetes), 'go.mod'), 'utf8')
  const replaced = [...staging.matchAll(/(k8s\.io\/\S+) => \.\/staging/g)].map(([, name]) => name)
  const version = 'v0.36.3'
  const required = `require ${kubernetes.replace('@', ' ')}\nrequire k8s.io/component-base ${version}\n`
  const replacements = replaced.map((name) => `replace ${name} => ${name} ${version}\n`).join('')
  writeFileSync(join(source, 'go.mod'), `module server\ngo 1.26.0\n${required}${replacements}`)
  const imports =
    'import ("os"; "k8s.io/component-base/cli"; "k8s.io/kubernetes/cmd/kube-apiserver/app")'
  const main = 'func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }'
  writeFileSync(join(source, 'main.go'), `package main\n${imports}\n${main}\n`)
  const options = { cwd: source, stdio: 'inherit' }
  execFileSync('go', ['mod', 'tidy', '-e'], { ...options, stdio: 'ignore' })
  console.log('building kube-apiserver: ten minutes')
  execFileSync('nice', ['go', 'build', '-ldflags', '-s -w', '-o', binary, '.'], options)
  return binary
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

const scratch = mkdtempSync(join(tmpdir(), 'serving-kube-'))
const children = []
function start(command, args) {
  const log = openSync(join(scratch, `${children.length}.log`), 'w')
  const child = spawn(command, args, { cwd: scratch, stdio: ['ignore', log, log] })
  children.push(child)
}

/** Starts etcd and the server. Returns a function that asks the server. */
async function startServer(binary) {
  const [clients, peers, port] = [await freePort(), await freePort(), await freePort()]
  const [etcd, peer] = [`http://127.0.0.1:${clients}`, `http://127.0.0.1:${peers}`]
  start('etcd', [
    ...[
      '--data-dir',
      'etcd',
      '--listen-client-urls',
      etcd,
      '--advertise-client-urls',
      etcd,
      '--listen-peer-urls',
      peer,
    ],
    ...['--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ])
  const openssl = (...args) => execFileSync('openssl', args, { cwd: scratch, stdio: 'ignore' })
  openssl('genrsa', '-out', 'sa.key', '2048')
  openssl('rsa', '-in', 'sa.key', '-pubout', '-out', 'sa.pub')
  writeFileSync(join(scratch, 'tokens.csv'), 'token,admin,admin,"system:masters"\n')
  start(binary, [
    ...[
      `--etcd-servers=${etcd}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      '--cert-dir=certs',
    ],
    ...['--service-account-issuer=https://localhost', '--service-account-key-file=sa.pub'],
    ...[
      '--service-account-signing-key-file=sa.key',
      '--authorization-mode=RBAC',
      '--token-auth-file=tokens.csv',
    ],
    ...['--service-cluster-ip-range=10.0.0.0/24', '--disable-admission-plugins=ServiceAccount'],
  ])
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  process.removeAllListeners('warning')
  const ask = async (path, body) => {
    const headers = { authorization: 'Bearer token', 'content-type': 'application/json' }
    const response = await fetch(`https://127.0.0.1:${port}${path}`, {
      headers,
      method: body ? 'POST' : 'GET',
      body,
    })
    const text = await response.text()
    return { status: response.status, text, json: () => JSON.parse(text) }
  }
  for (let i = 0; ; i++) {
    const ready = await ask('/readyz').catch(() => undefined)
    if (ready?.status === 200) return ask
    if (i === 300)
      throw new Error(`the server did not start\n${readFileSync(join(scratch, '1.log'), 'utf8')}`)
    await wait(200)
  }
}

async function install(ask, [module, file]) {
  const definition = parse(readFileSync(join(moduleFolder(module), file), 'utf8'))
  const { status, text } = await ask(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    JSON.stringify(definition),
  )
  if (status !== 201) throw new Error(`${file}: ${status} ${text.slice(0, 500)}`)
  const { group, versions, names } = definition.spec
  for (const { name } of versions) {
    const document = `/openapi/v3/apis/${group}/${name}`
    while (!(await ask(document)).text.includes(`"kind":"${names.kind}"`)) await wait(200)
  }
}

const ended = (kind) => (kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`).toLowerCase()

async function validate(ask, { apiVersion, kind, metadata, ...rest }) {
  const api = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const path = `${api}/namespaces/${metadata.namespace ?? 'default'}/${ended(kind)}?fieldValidation=Strict&dryRun=All`
  const { status, json } = await ask(path, JSON.stringify({ apiVersion, kind, metadata, ...rest }))
  return status === 201 ? '201' : `${status} ${json().message}`
}

const serving = (...args) =>
  execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
    cwd: scratch,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Builds a service of which the runner is remote, with gRPC and a base URL. Returns the folder. */
function buildRemote() {
  const folder = join(scratch, 'remote')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/serving'))
  writeFileSync(
    join(folder, 'package.json'),
    '{"name":"front","version":"1.0.0+7","type":"module","private":true}',
  )
  writeFileSync(
    join(folder, 'serving.config.json'),
    '{"grpcPort":3001,"baseUrl":"/front","drainTimeoutMs":60000}',
  )
  writeFileSync(
    join(folder, 'service.ts'),
    `import { io, Runner, Service } from 'serving'
const digits = new Runner('digits', { url: process.env.PREDICTOR_URL ?? 'http://localhost:8000' })
const svc = new Service('front', { runners: [digits] })
svc.api({ input: new io.NumpyNdarray(), output: new io.NumpyNdarray(), name: 'predict' }, (x) => digits.predict(x))
export default svc
`,
  )
  serving('build', join(folder, 'service.ts'), '--out', join(folder, 'build'))
  return join(folder, 'build')
}

const failures = []
function report(what, answer) {
  console.log(`${answer.slice(0, 300)}  ${what}`)
  if (answer !== '201') failures.push(what)
}

try {
  const ask = await startServer(buildServer())
  console.log(`kube-apiserver for ${kubernetes} answers`)
  for (const crd of crds) await install(ask, crd)
  const iris = join(scratch, 'iris')
  serving('build', join(root, 'examples/iris/service.ts'), '--out', iris)
  const remote = buildRemote()
  const model = ['--model-format', 'onnx', '--storage-uri', 's3://models/digits']
  const more = ['--namespace', 'default', '--workers', '3', '--replicas', '1-4', '--in-flight', '8']
  let last
  for (const [folder, ...extra] of [[iris], [iris, ...more], [remote, ...model]]) {
    for (const platform of ['kubernetes', 'kserve']) {
      for (const autoscaler of ['hpa', 'keda']) {
        const flags = ['--print', platform, '--autoscaler', autoscaler, ...extra]
        for (const document of parseAllDocuments(serving('deploy', folder, ...flags))) {
          last = document.toJS()
          report(
            `${last.kind} of ${folder.slice(scratch.length + 1)}: ${flags.join(' ')}`,
            await validate(ask, last),
          )
        }
      }
    }
  }
  const misspelt = await validate(ask, { ...last, spec: { ...last.spec, predictors: {} } })
  console.log(`a misspelt field: ${misspelt}`)
  if (!misspelt.includes('unknown field "spec.predictors"'))
    failures.push('the server takes unknown fields')

  const published = `${JSON.stringify(await fixtureOf(async (path) => (await ask(path)).json()))}\n`
  if (values.write) writeFileSync(fixture, published)
  else if (published === readFileSync(fixture, 'utf8'))
    console.log(`${fixture} is what the server publishes`)
  else failures.push(`${fixture} differs from what the server publishes: --write`)
} finally {
  // The server does not end by itself once etcd is gone.
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
}
for (const failure of failures) console.log(`failed: ${failure}`)
process.exitCode = failures.length === 0 ? 0 : 1
