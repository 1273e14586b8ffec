/** What axe-core finds on a page. @module */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'puppeteer-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** @returns each violation with the elements that it is of. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)')
  return (found as { id: string; impact: string; nodes: { html: string }[] }[]).map(
    ({ id, impact, nodes }) => `${impact} ${id} ${nodes.map(({ html }) => html).join(' ')}`,
  )
}
