/** Input of pictures: chosen, dropped, pasted or drawn. @module */
import { choice, h, tabs } from './dom.ts'
import type { Content, ErrorLocation, Field } from './field.ts'
import { FileField } from './file-field.ts'

const side = 280
const sheets = ['white', 'black'] as const

/** A picture. */
export class ImageField implements Field {
  readonly element: HTMLElement
  readonly #file: FileField
  readonly #canvas: HTMLCanvasElement
  #isDrawn = false

  constructor(label: string, accept: readonly string[]) {
    this.#file = new FileField({ label, accept: accept.length > 0 ? accept : ['image/*'], show: thumbnail })
    this.#canvas = h('canvas', {
      width: side,
      height: side,
      class: 'draw',
      role: 'img',
      'aria-label': `${label}: draw here with the mouse, a pen or a finger`,
    })
    const drawing = h('div', {}, this.#tools(), this.#canvas)
    this.element = tabs(`way to give ${label}`, [
      ['File', this.#file.element],
      ['Draw', drawing],
    ])
    this.element.addEventListener('click', () => {
      this.#isDrawn = !drawing.hidden
    })
  }

  read(): Content {
    if (!this.#isDrawn) return this.#file.read()
    const [, data = ''] = this.#canvas.toDataURL('image/png').split(',')
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
    return { type: 'image/png', data: new Blob([bytes], { type: 'image/png' }), name: 'drawing.png' }
  }

  mark(locations: readonly ErrorLocation[]): void {
    this.#file.mark(locations)
  }

  clear(): void {
    this.#file.clear()
  }

  #tools(): HTMLElement {
    const context = this.#canvas.getContext('2d') as CanvasRenderingContext2D
    const size = h('input', { type: 'range', min: 4, max: 40, value: 20, 'aria-label': 'width of the pen' })
    let sheet: (typeof sheets)[number] = 'white'
    const wipe = () => {
      context.fillStyle = sheet
      context.fillRect(0, 0, side, side)
    }
    const point = (event: PointerEvent): [number, number] => {
      const { left, top, width, height } = this.#canvas.getBoundingClientRect()
      return [((event.clientX - left) / width) * side, ((event.clientY - top) / height) * side]
    }
    this.#canvas.addEventListener('pointerdown', (event) => {
      this.#canvas.setPointerCapture(event.pointerId)
      context.strokeStyle = sheet === 'white' ? 'black' : 'white'
      context.lineWidth = Number(size.value)
      context.lineCap = 'round'
      context.lineJoin = 'round'
      context.beginPath()
      context.moveTo(...point(event))
      context.lineTo(...point(event))
      context.stroke()
    })
    this.#canvas.addEventListener('pointermove', (event) => {
      if (!this.#canvas.hasPointerCapture(event.pointerId)) return
      context.lineTo(...point(event))
      context.stroke()
    })
    const paper = choice('paper', ['White paper', 'Black paper'], (chosen) => {
      sheet = sheets[chosen]
      wipe()
    })
    return h('div', { class: 'tools' }, paper, size, h('button', { type: 'button', onclick: wipe }, 'Wipe'))
  }
}

/** Shows a picture with its size. */
export async function thumbnail(file: Blob): Promise<Element> {
  const image = h('img', { src: URL.createObjectURL(file), alt: file instanceof File ? file.name : 'picture' })
  try {
    await image.decode()
  } catch {
    return h('p', { class: 'dim' }, 'The browser cannot show this picture; it is sent as it is.')
  }
  const caption = h('figcaption', { class: 'dim' }, `${image.naturalWidth} × ${image.naturalHeight} pixels`)
  if (image.naturalWidth < 100) image.classList.add('small')
  return h('figure', {}, image, caption)
}
