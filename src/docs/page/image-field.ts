import { button, choice, h } from './dom.ts'
import { type Field, newNote, tell, waysField } from './field.ts'
import { fileField } from './file-field.ts'

const side = 280
const sheets = ['white', 'black'] as const

/** @returns the field of a picture. */
export function imageField(label: string, accept: readonly string[]): Field {
  const file = fileField({
    label,
    accept: accept.length > 0 ? accept : ['image/*'],
    show: mediaView,
  })
  let drawing: File | undefined
  const note = newNote()
  const pad = drawingPad(label, (picture) => {
    drawing = picture
    tell(note, [])
  })
  const drawn: Field = {
    element: h('div', pad, note),
    read: (isDraft) => {
      if (drawing === undefined && !isDraft) throw new Error(`Draw ${label} first.`)
      return { type: 'image/png', data: drawing ?? new Blob(), name: 'drawing.png' }
    },
    write: () => false,
    mark: (locations) => tell(note, locations),
  }
  return waysField(label, { File: file, Draw: drawn })
}

function drawingPad(label: string, take: (picture: File | undefined) => void): HTMLElement {
  const canvas = h('canvas', {
    width: side,
    height: side,
    class: 'draw',
    role: 'img',
    'aria-label': `${label}: draw here with the mouse, a pen or a finger`,
  })
  const context = canvas.getContext('2d') as CanvasRenderingContext2D
  const size = h('input', {
    type: 'range',
    min: 4,
    max: 40,
    value: 20,
    'aria-label': 'width of the pen',
  })
  let sheet: (typeof sheets)[number] = 'white'
  const wipe = () => {
    context.fillStyle = sheet
    context.fillRect(0, 0, side, side)
    take(undefined)
  }
  const lineTo = (event: PointerEvent) => {
    const { left, top, width, height } = canvas.getBoundingClientRect()
    context.lineTo(((event.clientX - left) / width) * side, ((event.clientY - top) / height) * side)
    context.stroke()
  }
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId)
    context.strokeStyle = sheet === 'white' ? 'black' : 'white'
    context.lineWidth = Number(size.value)
    context.lineCap = 'round'
    context.lineJoin = 'round'
    context.beginPath()
    lineTo(event)
    lineTo(event)
  })
  canvas.addEventListener('pointermove', (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) lineTo(event)
  })
  canvas.addEventListener('pointerup', () => {
    const bytes = Uint8Array.from(atob(canvas.toDataURL('image/png').split(',')[1]), (each) =>
      each.charCodeAt(0),
    )
    take(new File([bytes], 'drawing.png', { type: 'image/png' }))
  })
  const paper = choice('paper', ['White paper', 'Black paper'], (chosen) => {
    sheet = sheets[chosen]
    wipe()
  })
  return h('div', h('div.tools', paper, size, button('Wipe', wipe)), canvas)
}

/** Shows a picture with its size, a sound or a film; undefined for other files. */
export async function mediaView(file: Blob): Promise<Element | undefined> {
  const src = URL.createObjectURL(file)
  const [kind] = file.type.split('/')
  if (kind === 'audio' || kind === 'video') return h(kind, { controls: true, src })
  if (kind !== 'image') return undefined
  const image = h('img', { src, alt: file instanceof File ? file.name : 'picture' })
  try {
    await image.decode()
  } catch {
    return h('p.dim', 'The browser cannot show this picture; it is sent unchanged.')
  }
  const caption = h('figcaption.dim', `${image.naturalWidth} × ${image.naturalHeight} pixels`)
  if (image.naturalWidth < 100) image.classList.add('small')
  return h('figure', image, caption)
}
