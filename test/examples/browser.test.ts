import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chromium, launch, watch } from '../browser/browser.ts'
import { root, send, serveFile, until } from '../cli/process.ts'

it.skipIf(chromium === undefined)(
  'the app reads a drawn digit (needs chromium)',
  { timeout: 120_000 },
  async () => {
    // The command of the README, without npx.
    const flags = [
      '--bundle',
      '--minify',
      '--format=esm',
      '--outfile=examples/browser/app.js',
      '--log-level=error',
    ]
    execFileSync(join(root, 'node_modules/.bin/esbuild'), ['examples/browser/app.ts', ...flags], {
      cwd: root,
    })
    const { port } = await serveFile('examples/browser/service.ts', ['--workers', '1'])
    await until(async () => (await send(port, '/readyz')).status === 200)
    const browser = await launch()
    try {
      const { page, faults } = await watch(browser, `http://127.0.0.1:${port}`)
      await page.goto(`http://127.0.0.1:${port}/app`)
      const canvas = await page.waitForSelector('canvas')
      const box = await canvas?.boundingBox()
      const { x, y } = box ?? { x: 0, y: 0 }
      // A seven: to the right, then down to the left.
      await page.mouse.move(x + 70, y + 60)
      await page.mouse.down()
      await page.mouse.move(x + 200, y + 60, { steps: 8 })
      await page.mouse.move(x + 120, y + 230, { steps: 8 })
      await page.mouse.up()
      await page.waitForFunction(() => document.querySelector('output')?.textContent !== '')
      expect(await page.$eval('output', (output) => output.textContent)).toBe('This is a 7.')
      expect(await page.$$eval('dd', (bars) => bars.length)).toBe(10)
      expect(faults).toEqual([])
    } finally {
      await browser.close()
    }
  },
)
