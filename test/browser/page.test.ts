/**
 * The page in a browser: every descriptor tried by hand, as far as a program has hands.
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ElementHandle, Page } from 'puppeteer-core'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import svc, { nextToken } from '../client/service.ts'
import { chromium, servePage } from './browser.ts'

const pattern = fileURLToPath(new URL('../../examples/all/pattern.png', import.meta.url))

const parquet = fileURLToPath(
  new URL('../fixtures/parquet/numbers-snappy.parquet', import.meta.url),
)
const hasRequests =
  chromium !== undefined && spawnSync('python3', ['-c', 'import requests']).status === 0

describe.skipIf(chromium === undefined)('the page in Chromium (needs chromium)', () => {
  const on = servePage(svc, '/v1')
  const { open, press, type, upload, send, textOf, texts } = on
  let base: string
  let page: Page
  let faults: string[]
  beforeEach(() => {
    ;({ base, page, faults } = on)
  })
  const folder = mkdtempSync(join(tmpdir(), 'serving-page-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('shows arrays as table, line and heat map, and marks the place of an error', async () => {
    await open('double')
    await type('textarea', '[[1, 2], [3, 4]]')
    expect(await texts('.look td')).toEqual(['', '1', '2', '3', '4'])
    const { status, text } = await send()
    expect(status).toBe('200')
    expect(text).toMatch(/\d+ ms\s+\d+ B\s+application\/json/)
    expect(await texts('.answer td')).toEqual(['', '2', '4', '6', '8'])
    await (await page.$('.answer'))?.$$eval('button', ([, heat]) => heat.click())
    expect(await page.$eval('.answer canvas', (each) => each.getAttribute('aria-label'))).toBe(
      'heat map of 2 × 2 numbers from 2 to 8',
    )
    await type('textarea', '[["ü", 2], [3, x]]')
    const failed = await send()
    expect(failed.status).toBe('400')
    expect(failed.text).toMatch(/bad_input/)
    // Counted in bytes of UTF-8, of which ü takes two.
    expect(await textOf('mark')).toBe('x')
    await type('textarea', '[[1, 2],\n [3, x]]')
    expect((await send()).text).toMatch(/reason\s+syntax\s+offset\s+14/)
    expect(await textOf('mark')).toBe('x')
    expect(await textOf('.note:not([hidden])')).toMatch(/^Line 2, column 6: expected JSON/)
    expect(faults).toEqual([])
  })

  it('edits frames in a table, takes CSV and JSON, plots a column, marks a cell', async () => {
    await open('total')
    const inputs = await page.$$('.edit td input')
    expect(inputs.length).toBeGreaterThan(2)
    writeFileSync(join(folder, 'orders.csv'), 'item,price,count\ntea,2.5,4\n"milk, fresh",1,2\n')
    await press('File')
    await upload('input[type=file]', join(folder, 'orders.csv'))
    await page.waitForFunction(() =>
      document.querySelector('.shown')?.textContent?.includes('2 rows'),
    )
    expect(await texts('.shown td')).toEqual(['', 'tea', '2.5', '4', 'milk, fresh', '1', '2'])
    expect((await send()).text).toMatch(/2 rows, 4 columns/)
    await press('Table')
    expect(
      await page.$$eval('.edit td input', (all) =>
        all.map((each) => (each as HTMLInputElement).value),
      ),
    ).toEqual(['tea', '2.5', '4', 'milk, fresh', '1', '2'])
    await type('.edit [data-row="1"][data-column="1"]', '3')
    expect((await send()).status).toBe('200')
    expect(await texts('.answer td')).toEqual([
      '',
      'tea',
      '2.5',
      '4',
      '10',
      'milk, fresh',
      '3',
      '2',
      '6',
    ])
    await page.select('.answer select', 'total')
    expect(await texts('.answer .bars > span')).toEqual(['tea', '', '10', 'milk, fresh', '', '6'])
    await press('JSON')
    expect(JSON.parse(await page.$eval('textarea', (each) => each.value))[1].price).toBe(3)
    await press('Table')
    await type('.edit [data-row="1"][data-column="2"]', 'many')
    const { status } = await send()
    expect(status).toBe('400')
    const wrong = await page.$$eval('[aria-invalid]', (all) =>
      all.map((each) => (each as HTMLInputElement).value),
    )
    expect(wrong).toEqual(['many'])
    expect(faults).toEqual([])
  })

  it('sends Parquet as it is, and plots a chosen column of the answer', async () => {
    await open('frame_records')
    await press('File')
    await upload('input[type=file]', parquet)
    await page.waitForFunction(() => document.querySelector('.shown')?.textContent !== '')
    expect(await textOf('.shown')).toContain('Not shown here; sent unchanged.')
    expect((await send()).text).toContain('64 rows, 4 columns')
    await page.select('.answer select', 'f')
    expect(await page.$eval('.answer .plot', (each) => each.getAttribute('aria-label'))).toContain(
      'f: 64 values',
    )
    expect(faults).toEqual([])
  })

  it('asks GET APIs with the parameters of their query', async () => {
    await open('labels')
    expect(await textOf('.route')).toBe('GET /v1/labels')
    expect((await send()).text).toMatch(/\[\s*"a",\s*"b"\s*\]/)
    await press('JSON')
    await type('[aria-label="the input as JSON"]', '{"top": 1, "tag": ["x y"]}')
    expect((await send()).text).toMatch(/\[\s*"a",\s*"x y"\s*\]/)
    await page.$eval('details.code-panel', (each) => each.setAttribute('open', ''))
    const command = (await textOf('.code-panel pre')) ?? ''
    const { stdout } = await promisify(execFile)('bash', ['-c', `${command} -s -m 10`])
    expect(stdout).toBe('["a","x y"]')
    await type('[aria-label="the input as JSON"]', '{"top": 9}')
    const failed = await send()
    expect([failed.status, failed.text]).toEqual(['400', expect.stringMatching(/path\s+top/)])
    expect(faults).toEqual([])
  })

  it('tells the headers of an answer', async () => {
    await open('center')
    await send()
    await page.$eval('.answer details', (each) => each.setAttribute('open', ''))
    expect(await textOf('.answer details dl')).toContain('content-typeapplication/json')
    expect(faults).toEqual([])
  })

  it('takes series and plots them', async () => {
    await open('center')
    await type('textarea', '[1, 2, 6]')
    expect((await send()).status).toBe('200')
    expect(await texts('.answer td')).toEqual(['', '-2', '-1', '3'])
    expect(faults).toEqual([])
  })

  it('has the fields of a schema and marks the wrong ones', async () => {
    await open('greet')
    expect(await texts('.member > span:first-child')).toEqual([
      'name string, at least 1 character, required',
      'born integer, 1900 to 2100, required',
      'title string, optional',
      'isAdmin boolean, optional',
    ])
    const [name, born] = await page.$$('.member > input[type=text]')
    const set = async (input: ElementHandle<Element>, text: string) => {
      await input.click({ count: 3 })
      await page.keyboard.press('Backspace')
      await page.keyboard.type(text)
    }
    await set(name, 'Ada')
    await set(born, '1990')
    await page.select('.member select', '0')
    const answer = await send()
    expect(answer.text).toContain('"greeting":"Hello, Dr Ada!"')
    // What a double would round is shown as it came.
    expect(answer.text).toContain(String(2n ** 60n))
    await set(name, '')
    await set(born, '1')
    expect((await send()).status).toBe('400')
    expect(await page.$$eval('.member > [aria-invalid]', (all) => all.length)).toBe(2)
    expect(await texts('.member .note:not([hidden])')).toHaveLength(2)
    await press('JSON')
    await type('textarea', '{"name": "Ada", "born": 1}')
    await send()
    expect(await textOf('mark')).toBe('1')
    expect(faults).toEqual([])
  })

  it('shows text as it streams in', async () => {
    await open('words')
    await type('textarea', 'one two three')
    expect((await send()).text).toContain('one\ntwo\nthree')
    await open('chat')
    await type('textarea', 'hello')
    expect((await send()).text).toMatch(/word 0 hello/)
    expect(await texts('.answer .event')).toHaveLength(1)
    // Each piece is there before the next one is sent.
    await open('tokens')
    await page.click('.send')
    await page.waitForFunction(() => document.querySelector('.answer pre')?.textContent === 'one')
    expect(await textOf('.send')).toBe('Stop')
    nextToken()
    await page.waitForFunction(
      () => document.querySelector('.answer pre')?.textContent === 'one two',
    )
    nextToken()
    await page.waitForFunction(() => document.querySelector('.send')?.textContent === 'Send')
    expect(await textOf('.answer pre')).toBe('one two\nthree')
    expect(faults).toEqual([])
  })

  it('takes pictures from files, the clipboard and the canvas, and shows them', async () => {
    await open('negative')
    await page.waitForSelector('.shown img')
    await upload('input[type=file]', pattern)
    expect((await send()).status).toBe('200')
    await page.waitForSelector('.answer img')
    expect(await textOf('.answer figcaption')).toBe('32 × 24 pixels')
    expect(await page.$eval('.answer a', (each) => (each as HTMLAnchorElement).download)).toBe(
      'output.png',
    )
    await press('Draw')
    const canvas = (await page.$('.draw')) as ElementHandle<HTMLCanvasElement>
    const box = (await canvas.boundingBox()) as { x: number; y: number }
    await page.mouse.move(box.x + 140, box.y + 40)
    await page.mouse.down()
    await page.mouse.move(box.x + 140, box.y + 240, { steps: 8 })
    await page.mouse.up()
    expect((await send()).status).toBe('200')
    await page.waitForSelector('.answer img')
    expect(await textOf('.answer figcaption')).toBe('280 × 280 pixels')
    // The paper was white and the pen black; in the negative it is the other way round.
    const levels = await page.$eval('.answer img', (image) => {
      const copy = new OffscreenCanvas(280, 280).getContext(
        '2d',
      ) as OffscreenCanvasRenderingContext2D
      copy.drawImage(image as HTMLImageElement, 0, 0)
      return [copy.getImageData(140, 140, 1, 1).data[0], copy.getImageData(10, 10, 1, 1).data[0]]
    })
    expect(levels).toEqual([255, 0])
    await press('File')
    await page.evaluate(() => {
      const data = new DataTransfer()
      data.items.add(new File(['no picture'], 'a.png', { type: 'image/png' }))
      document
        .querySelector('.drop')
        ?.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }))
    })
    expect((await send()).text).toMatch(/reason\s+encoding/)
    expect(faults).toEqual([])
  })

  it('takes a file up and down', async () => {
    writeFileSync(join(folder, 'abc.txt'), 'abc')
    await open('reverse')
    await upload('input[type=file]', join(folder, 'abc.txt'))
    expect((await send()).status).toBe('200')
    expect(await textOf('.answer pre')).toBe('cba')
    const session = await page.createCDPSession()
    await session.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      eventsEnabled: true,
    })
    const saved = new Promise<void>((resolve) => {
      session.on('Browser.downloadProgress', ({ state }) => state === 'completed' && resolve())
    })
    await page.click('.answer a')
    await saved
    expect(readFileSync(join(folder, 'rückwärts abc.txt'), 'utf8')).toBe('cba')
    expect(faults).toEqual([])
  })

  it('has the parts of a form, with those that may lack or repeat', async () => {
    await open('mix')
    expect(await texts('.parts legend')).toEqual(['pictures', 'weights', 'note', 'options'])
    await page.waitForSelector('.shown img')
    await press('Add pictures')
    const inputs = await page.$$('input[type=file]')
    expect(inputs).toHaveLength(2)
    for (const input of inputs) await (input as ElementHandle<HTMLInputElement>).uploadFile(pattern)
    await type('[aria-label=weights]', '[1, 2]')
    await press('Remove note')
    expect(await page.$('[aria-label=note]')).toBeNull()
    await press('Add note')
    await press('Add note')
    expect(await page.$$('[aria-label=note]')).toHaveLength(1)
    await type('[aria-label=note]', 'hello')
    const { status } = await send()
    expect(status).toBe('200')
    expect(await texts('.answer legend')).toEqual(['mean', 'note', 'picture'])
    expect(await textOf('.answer pre.text')).toBe('hello')
    await page.waitForSelector('.answer img')
    await type('[aria-label=weights]', '[[1], [2, 3]]')
    expect((await send()).text).toMatch(/path\s+weights/)
    expect(
      await page.$eval('[aria-label=weights]', (each) => each.getAttribute('aria-invalid')),
    ).toBe('true')
    expect(faults).toEqual([])
  })

  it('shows the call in curl, which works', async () => {
    for (const [name, wanted] of [
      ['double', '[2.0,4.0,6.0]'],
      ['center', ''],
      ['words', ''],
    ]) {
      await open(name)
      const { text } = await send()
      await page.$eval('details.code-panel', (each) => each.setAttribute('open', ''))
      const command = await textOf('.code-panel pre')
      const { stdout: output } = await promisify(execFile)('bash', ['-c', `${command} -s -m 10`])
      if (wanted !== '') expect(output).toBe(wanted)
      else expect(text.replace(/\s/g, '')).toContain(output.replace(/[\s[\],]/g, '').slice(0, 3))
      await press('Python')
      expect(await textOf('.code-panel pre')).toMatch(
        new RegExp(`requests.post\\(\\s*"${base}/${name}",`),
      )
      await press('TypeScript')
      expect(await textOf('.code-panel pre')).toContain(`client.${name}(`)
    }
  })

  it.skipIf(!hasRequests)(
    'shows the call in Python, which works (needs python3 with requests)',
    async () => {
      for (const [name, wanted] of [
        ['double', '[2.0, 4.0, 6.0]'],
        ['words', 'one\ntwo'],
        ['mix', ''],
      ]) {
        await open(name)
        if (name === 'words') await type('textarea', 'one two')
        if (name === 'mix') await upload('input[type=file]', pattern)
        await page.$eval('details.code-panel', (each) => each.setAttribute('open', ''))
        await press('Python')
        const program = await textOf('.code-panel pre')
        const cwd = join(pattern, '..')
        const file =
          name === 'mix'
            ? (program ?? '').replace('open("answer.bin", "wb").write', 'print')
            : (program ?? '')
        const { stdout } = await promisify(execFile)('python3', ['-c', file], { cwd })
        if (wanted === '') expect(stdout).toContain('form-data; name="mean"')
        else expect(stdout.trim()).toBe(wanted)
      }
    },
  )

  it('sends with the keyboard, stops, and sends credentials', async () => {
    await open('double')
    expect(await page.$eval('.credentials', (each) => (each as HTMLElement).hidden)).toBe(true)
    await open('closed')
    expect((await send()).status).toBe('401')
    await type('.credentials input', 'secret')
    expect((await send()).status).toBe('200')
    await open('slow')
    await page.focus('textarea')
    await page.keyboard.down('Control')
    await page.keyboard.press('Enter')
    await page.keyboard.up('Control')
    await page.waitForFunction(() => document.querySelector('.send')?.textContent === 'Stop')
    await page.click('.send')
    await page.waitForFunction(() => document.querySelector('.answer')?.textContent === 'Stopped.')
    expect(faults).toEqual([])
  })
})
