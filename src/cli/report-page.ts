/** Reports as pages: their data, and the script of `template/report` that shows them. @module */
import { readFileSync } from 'node:fs'
import { templateUrl } from './package-source.ts'

/** @returns a whole HTML page without anything from elsewhere. */
export function reportPage(report: object): string {
  const [page, script] = ['html', 'js'].map((type) =>
    readFileSync(new URL(`report/page.${type}`, templateUrl), 'utf8'),
  )
  // Values of callers cannot end the element.
  const data = JSON.stringify(report).replaceAll('<', '\\u003c')
  return page.replace('SCRIPT', () => script).replace('"DATA"', () => data)
}
