/** What the pages of reports share. @module */

/** @returns text without markup. */
export const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** @returns a whole HTML page without anything from elsewhere. */
export function reportHtml(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  h1 { overflow-wrap: anywhere }
  svg { width: 100%; height: auto }
  svg text { font-size: 12px; fill: currentColor }
  table { border-collapse: collapse; width: max-content; font-variant-numeric: tabular-nums }
  th, td { padding: 0.25rem 0.75rem; text-align: right; border-bottom: 1px solid #8886 }
  th:first-child, td:first-child { text-align: left }
  td { max-width: 24rem; overflow-wrap: break-word; white-space: pre-wrap }
  .wide { overflow-x: auto }
</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`
}

/** @returns a table. `cells`: HTML. */
export function htmlTable(
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('')
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  const body = lines.join('\n')
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`
}
