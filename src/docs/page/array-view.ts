import { cellText, choice, h, table } from './dom.ts'
import { extent, plot } from './plot.ts'

/** @returns the array of nested lists; undefined for anything else. */
export function arrayOf(value: unknown) {
  const shape: number[] = []
  let data = [value]
  while (Array.isArray(data[0])) {
    const { length } = data[0]
    if (!data.every((each) => Array.isArray(each) && each.length === length)) return undefined
    shape.push(length)
    data = data.flat()
  }
  if (data.some((each) => typeof each === 'object' && each !== null)) return undefined
  return { shape, data }
}

const maxCells = 400
const maxPixels = 4_000_000

/** Shows an array: small ones as a table, others as a heat map; vectors also as a line. */
export function arrayView({ shape, data }: NonNullable<ReturnType<typeof arrayOf>>): HTMLElement {
  const caption = h('p.dim', `shape (${shape.join(', ')})`)
  if (data.length === 0) return caption
  const width = shape.at(-1) ?? 1
  const rows = data.length / width
  const isNumbers = data.slice(0, 1000).every(isNumber)
  const views: [name: string, draw: () => Element, isPossible: boolean][] = [
    ['Table', () => elements(data, rows, width), true],
    ['Line', () => plot(data, 'elements'), isNumbers && width > 1 && shape.length < 2],
    [
      'Heat map',
      () => heatMap(data, rows, width),
      isNumbers && rows > 1 && rows * width <= maxPixels,
    ],
  ]
  if (isNumbers && data.length > maxCells) views.push(...views.splice(0, 1))
  const possible = views.filter(([, , isPossible]) => isPossible)
  const box = h('div.view')
  const choose = choice(
    'view of the array',
    possible.map(([name]) => name),
    (chosen) => box.replaceChildren(possible[chosen][1]()),
  )
  return h('div', h('div.tools.between', caption, choose), box)
}

function isNumber(value: unknown): boolean {
  return value === null || ['number', 'bigint', 'boolean'].includes(typeof value)
}

function elements(data: readonly unknown[], rows: number, width: number): HTMLElement {
  const shownRows = Math.min(rows, 50)
  const shownColumns = Math.min(width, 50)
  const columns = Array.from({ length: shownColumns }, (_, j) => j)
  const body = Array.from({ length: shownRows }, (_, i) => [
    i,
    ...columns.map((j) => cellText(data[i * width + j])),
  ])
  const isCut = rows > shownRows || width > shownColumns
  const more = isCut && h('p.dim', `the first ${shownRows} × ${shownColumns} of ${rows} × ${width}`)
  return h('div', table('elements', ['', ...columns], body), more)
}

function heatMap(data: readonly unknown[], rows: number, width: number): HTMLElement {
  const numbers = Float64Array.from(data, Number)
  const [low, high] = extent(numbers)
  const label = `heat map of ${rows} × ${width} numbers from ${cellText(low)} to ${cellText(high)}`
  const canvas = h('canvas', {
    width,
    height: rows,
    class: 'heat',
    role: 'img',
    'aria-label': label,
  })
  const context = canvas.getContext('2d') as CanvasRenderingContext2D
  const picture = context.createImageData(width, rows)
  for (const [i, number] of numbers.entries()) {
    const level = (number - low) / (high - low || 1)
    picture.data.set(
      [30 + 225 * level ** 0.8, 15 + 215 * level ** 2, 90 + 100 * Math.sin(level * Math.PI), 255],
      i * 4,
    )
  }
  context.putImageData(picture, 0, 0)
  canvas.style.aspectRatio = `${width} / ${rows}`
  canvas.style.width = `min(100%, ${Math.max(160, Math.min(480, width * 16))}px)`
  return h('figure', canvas, h('figcaption.dim', `${cellText(low)} to ${cellText(high)}`))
}
