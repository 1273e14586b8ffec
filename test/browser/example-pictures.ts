/**
 * Makes docs/examples/*.png, the pictures of the examples, and docs/public/page.png: starts each service, asks it in
 * Chromium, and takes one.
 * Models in Python need PYTHON to name one with scikit-learn, pandas and pyarrow.
 *
 * Run: `npm run build && npx tsx test/browser/example-pictures.ts [NAME...]`
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'puppeteer-core'
import { findElement, launch, replaceText } from './browser.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const main = join(root, 'dist/cli/main.js')
const { PATH = '', HOME = '', PYTHON = 'python3' } = process.env
const env = { PATH, HOME, SERVING_PYTHON: PYTHON }

/** An example that runs. */
interface Running {
  readonly page: Page
  readonly base: string
}

/** Starts a command and returns it with what its output has for `found`. */
async function start(
  args: readonly string[],
  found: RegExp,
  more = {},
): Promise<[ChildProcess, string]> {
  const child = spawn(process.execPath, [main, ...args], { cwd: root, env: { ...env, ...more } })
  let text = ''
  const place = await new Promise<string>((resolve, reject) => {
    child.on('close', () => reject(new Error(text)))
    child.stderr.on('data', (part) => process.stderr.write(part))
    child.stdout.on('data', (part) => {
      text += part
      const match = found.exec(text)
      if (match !== null) resolve(match[1])
    })
  })
  return [child, place]
}

async function open({ page, base }: Running, name: string): Promise<void> {
  await page.goto(`${base}/docs#/${name}`)
  await page.waitForFunction(
    (wanted) => document.querySelector('h2')?.textContent === wanted,
    {},
    name,
  )
}

async function send({ page }: Running): Promise<void> {
  await page.click('.send')
  await page.waitForFunction(
    () =>
      document.querySelector('.send')?.textContent === 'Send' &&
      document.querySelector('.answer')?.firstChild,
  )
}

async function ask(running: Running, name: string, text: string): Promise<void> {
  await open(running, name)
  await replaceText(running.page, 'textarea', text)
  await send(running)
}

async function upload(running: Running, name: string, file: string): Promise<void> {
  await open(running, name)
  const label = file.endsWith('.csv')
    ? await findElement(running.page, 'button', 'File')
    : undefined
  await label?.click()
  const input = await running.page.waitForSelector('input[type=file]')
  await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(
    join(root, file),
  )
  await running.page.waitForFunction(() => document.querySelector('.shown')?.firstChild)
  await send(running)
}

async function draw(
  page: Page,
  selector: string,
  points: readonly (readonly [number, number])[],
): Promise<void> {
  const box = await (await page.waitForSelector(selector))?.boundingBox()
  const { x, y } = box ?? { x: 0, y: 0 }
  const [first, ...others] = points
  await page.mouse.move(x + first[0], y + first[1])
  await page.mouse.down()
  for (const [right, down] of others) await page.mouse.move(x + right, y + down, { steps: 6 })
  await page.mouse.up()
}

const seven = [
  [70, 60],
  [200, 60],
  [120, 230],
] as const
const three = [
  [85, 65],
  [140, 45],
  [190, 75],
  [180, 115],
  [130, 135],
  [185, 155],
  [195, 205],
  [140, 235],
  [80, 215],
] as const

/** Shows what commands print, as a terminal does. */
async function terminal({ page, base }: Running, commands: readonly string[]): Promise<void> {
  const lines = commands.map((command) => {
    const run = command
      .replaceAll('localhost:3000', base.slice('http://'.length))
      .replace(/^curl/, 'curl -s')
    const answer = execFileSync('bash', ['-c', run], { cwd: root, encoding: 'utf8' })
    return `<b>$ ${command.replace(PYTHON, 'python')}</b>\n${answer}`
  })
  const style =
    'margin:0;padding:24px;background:#161b22;color:#d6dde6;font:15px/1.6 monospace;white-space:pre-wrap'
  await page.setContent(`<!doctype html><body style="${style}">${lines.join('\n\n')}`)
  await page.setViewport({
    width: 1100,
    height: await page.$eval('html', (html) => html.offsetHeight),
  })
}

const key = "curl -H 'x-api-key: demo'"
const sevenPicture = 'examples/digits/held-out/7-blue-on-cream-200x150-rgb-29.png'
const star = 'examples/shapes/held-out/star-123.png'
const pictures: Readonly<Record<string, (running: Running) => Promise<unknown>>> = {
  iris: (running) => ask(running, 'classify', '[[5.1, 3.5, 1.4, 0.2], [6.7, 3.1, 5.6, 2.4]]'),
  async digits(running) {
    await open(running, 'classify_digit')
    await (await findElement(running.page, 'button', 'Draw')).click()
    await draw(running.page, '.draw', seven)
    await send(running)
  },
  /** Of the first page of the documentation. */
  page: (running) => upload(running, 'classify_digit', sevenPicture),
  models: (running) => ask(running, 'describe', 'setosa'),
  all: (running) => upload(running, 'negative', 'examples/all/pattern.png'),
  npy: (running) =>
    terminal(running, [
      `${PYTHON} -c "
import io, numpy as np, requests
out = io.BytesIO()
np.save(out, np.arange(6, dtype='int32').reshape(2, 3))
headers = {'content-type': 'application/x-npy'}
answer = requests.post('http://localhost:3000/means', data=out.getvalue(), headers=headers)
print(np.load(io.BytesIO(answer.content)))"`,
    ]),
  sklearn: (running) =>
    ask(running, 'probabilities', '[[5.1, 3.5, 1.4, 0.2], [6.7, 3.0, 5.2, 2.3]]'),
  production: (running) =>
    terminal(running, [
      `${key} -d '[[1, 2], [3, 4]]' localhost:3000/mean`,
      "curl -d '[[1, 2], [3, 4]]' localhost:3000/mean",
      `${key} 'localhost:3000/labels?top=2'`,
      `${key} 'localhost:3000/labels?top=9'`,
    ]),
  shapes: (running) => upload(running, 'classify', star),
  table: (running) => upload(running, 'classify', 'examples/table/wines.csv'),
  async chat({ page, base }) {
    await page.goto(`${base}/chat`)
    for (const prompt of ['How does batching work?', 'What happens if a thread dies?']) {
      await page.type('input', prompt)
      await page.keyboard.press('Enter')
      await page.waitForNetworkIdle({ idleTime: 1000, concurrency: 0 })
    }
  },
  openai: (running) =>
    terminal(running, [
      "npx tsx examples/openai/client.ts http://localhost:3000 'How does batching work?'",
      `curl -d '{"model": "tiny", "prompt": "The server", "temperature": 0}' localhost:3000/v1/completions`,
      `curl -d '{"model": "tiny", "prompt": "The server", "n": 2}' localhost:3000/v1/completions`,
    ]),
  triton: (running) => upload(running, 'classify', star),
  // Needs Node 22.13 or later.
  async jobs(running) {
    const towns = '[[0,0],[3,4],[0,4],[3,0],[1,5]]'
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': 'trip',
      prefer: 'respond-async',
    }
    const submitted = await fetch(`${running.base}/plan`, { method: 'POST', headers, body: towns })
    const sent = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
    const job = `localhost:3000${submitted.headers.get('location')}`
    await terminal(running, [
      `curl ${sent.join(' ')} -d '${towns}' localhost:3000/plan`,
      `curl -N ${job}/events | tail -n 9`,
      `curl ${job}/result`,
    ])
  },
  async evidence({ page }) {
    const folder = mkdtempSync(join(tmpdir(), 'evidence-'))
    execFileSync('npx', ['tsx', 'examples/evidence/story.ts', folder], { cwd: root })
    await page.goto(`file://${folder}/report.html`)
    await page.evaluate((path) => {
      for (const title of document.querySelectorAll('h1'))
        title.textContent = title.textContent?.replace(path, '') ?? ''
    }, root)
    await page.setViewport({ width: 1100, height: 1740, deviceScaleFactor: 0.7 })
  },
  async browser({ page, base }) {
    await page.goto(`${base}/app`)
    await draw(page, 'canvas', three)
    await page.waitForFunction(() => document.querySelector('output')?.textContent !== '')
  },
}

const given = process.argv.slice(2)
const browser = await launch()
for (const name of given.length > 0 ? given : Object.keys(pictures)) {
  const isFirst = name === 'page'
  const models = [
    'models',
    'examples/shapes/models',
    '--port',
    '0',
    '--grpc-port',
    '0',
    '--workers',
    '1',
  ]
  const [backend, grpc] = name === 'triton' ? await start(models, /gRPC at \S+:(\d+)/) : []
  const more = { PREDICTOR_URL: `grpc://localhost:${grpc}` }
  const args = [
    'serve',
    `examples/${isFirst ? 'models' : name}/service.ts`,
    '--port',
    '0',
    '--workers',
    '1',
    '--host',
    '127.0.0.1',
  ]
  const [child, port] = await start(args, /^serving .* at http:\/\/\S+?:(\d+)/m, more)
  const base = `http://127.0.0.1:${port}`
  while ((await fetch(`${base}/readyz`)).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, 200))
  const page = await browser.newPage()
  await page.setViewport(
    isFirst ? { width: 1180, height: 880, deviceScaleFactor: 1.25 } : { width: 1100, height: 860 },
  )
  await pictures[name]({ page, base })
  await page.evaluate(() => scrollTo(0, 0))
  const file = join(root, isFirst ? 'docs/public/page.png' : `docs/examples/${name}.png`)
  await page.screenshot({ path: file as `${string}.png` })
  await page.close()
  child.kill()
  backend?.kill()
  console.log(file)
}
await browser.close()
