/** Every relative link and anchor of the documents is there; VitePress looks at no anchors. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../cli/process.ts'
import { anchorsOf, pages, textOf } from './markdown.ts'

interface Link {
  readonly place: string
  readonly page: string
  readonly target: string
}

function linksOf(page: string): Link[] {
  return textOf(page)
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({
        place: `${page}:${index + 1}`,
        page,
        target,
      })),
    )
    .filter(({ target }) => !/^(https?:|mailto:)/.test(target))
}

/** Returns what is wrong with a link; undefined if nothing is. */
function faultOf({ page, target }: Link): string | undefined {
  const [path, anchor] = target.split('#')
  const base = path.startsWith('/') ? 'docs/public' : dirname(page)
  let file = path === '' ? page : normalize(join(base, path))
  if (!existsSync(join(root, file))) return `no file ${file}`
  if (page.startsWith('docs/') && !file.startsWith('docs/'))
    return `${file} is not part of the site`
  if (statSync(join(root, file)).isDirectory()) file = join(file, 'index.md')
  if (anchor === undefined) return undefined
  return anchorsOf(file).has(anchor) ? undefined : `no heading ${anchor} in ${file}`
}

const links = [...pages, 'CONTRIBUTING.md', 'SECURITY.md', 'SUPPORT.md'].flatMap(linksOf)

it('every relative link of the documents is to a file and a heading that exist', () => {
  expect(links.length).toBeGreaterThan(80)
  expect(
    links.flatMap((link) =>
      faultOf(link) === undefined ? [] : [`${link.place}: ${faultOf(link)}`],
    ),
  ).toEqual([])
})

it('every page of the site is in its menu, or linked from another page', () => {
  const config = textOf('docs/.vitepress/config.ts')
  const linked = new Set(
    links.map(({ page, target }) => normalize(join(dirname(page), target.split('#')[0]))),
  )
  const isInMenu = (page: string) => {
    const name = page.replace(/^.*\//, '').replace(/\.md$/, '')
    return (
      config.includes(`'${name}': `) ||
      config.includes(`${name}: '`) ||
      config.includes(`/${name}'`)
    )
  }
  const site = pages.filter((page) => page.startsWith('docs/') && !page.endsWith('index.md'))
  expect(site.filter((page) => !linked.has(page) && !isInMenu(page))).toEqual([])
})

it('every source file that a page names exists', () => {
  const named = pages.flatMap((page) =>
    [
      ...textOf(page).matchAll(/`((?:src|test|bench|scripts|native|proto|examples)\/[\w./-]+)`/g),
    ].map(([, path]) => ({
      page,
      path,
    })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
})

it.each([
  ['README.md', 7000],
  ['CONTRIBUTING.md', 6000],
])('%s has at most %i bytes', (page, most) => {
  expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(most)
})
