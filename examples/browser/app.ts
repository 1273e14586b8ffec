/**
 * Sends the drawing after each stroke, and shows the probability of each digit.
 * @module
 */
import { createClient } from 'serving/client'

const client = createClient<typeof import('./service.ts')>(location.origin)
const canvas = document.querySelector('canvas') as HTMLCanvasElement
const bars = document.querySelector('dl') as HTMLElement
const output = document.querySelector('output') as HTMLOutputElement
const pen = canvas.getContext('2d') as CanvasRenderingContext2D

function clear(): void {
  pen.fillStyle = 'white'
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.lineWidth = 22
  pen.lineCap = 'round'
  bars.innerHTML = Array.from(
    { length: 10 },
    (_, digit) => `<dt>${digit}</dt><dd style="--odds: 0"></dd>`,
  ).join('')
  output.textContent = ''
}

async function send(): Promise<void> {
  const picture = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  if (picture === null) return
  try {
    // Typed: { digit: number, probabilities: readonly number[] }.
    const { digit, probabilities } = await client.read(picture)
    output.textContent = `This is a ${digit}.`
    bars.querySelectorAll('dd').forEach((bar, i) => {
      bar.style.setProperty('--odds', String(probabilities[i]))
    })
  } catch (error) {
    output.textContent = (error as Error).message
  }
}

canvas.onpointerdown = ({ offsetX, offsetY, pointerId }) => {
  canvas.setPointerCapture(pointerId)
  pen.beginPath()
  pen.moveTo(offsetX, offsetY)
}
canvas.onpointermove = ({ offsetX, offsetY, buttons }) => {
  if (buttons === 0) return
  pen.lineTo(offsetX, offsetY)
  pen.stroke()
}
canvas.onpointerup = send
;(document.querySelector('button') as HTMLButtonElement).onclick = clear
clear()
