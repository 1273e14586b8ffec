/** The page: sends sound as it is recorded, and shows words as they are found. @module */
import { createClient } from 'serving/client'
import type * as service from './service.ts'
import { rate, type Word } from './words.ts'

const client = createClient<typeof service>(location.origin)
const canvas = document.querySelector('canvas') as HTMLCanvasElement
const list = document.querySelector('ol') as HTMLOListElement
const status = document.querySelector('output') as HTMLOutputElement
const chunk = rate / 10
let stop = () => {}

/** Sends chunks until `stop` is called, and shows the words that come. */
function listen(): (samples: Float32Array) => void {
  stop()
  list.replaceChildren()
  const live = client.listen.open()
  stop = () => live.end()
  const read = async () => {
    for await (const word of live) show(word)
  }
  status.textContent = 'listening'
  read().then(
    () => (status.textContent = 'stopped'),
    (error: Error) => (status.textContent = error.message),
  )
  return (samples) => {
    draw(samples)
    live.send(samples).catch(() => {})
  }
}

function show({ start, end, pitch, level }: Word): void {
  const item = document.createElement('li')
  const about = document.createElement('span')
  about.textContent = ` ${start.toFixed(1)} to ${end.toFixed(1)} s, ${level} dB`
  item.append(pitch === null ? 'no pitch' : `${pitch} Hz`, about)
  list.append(item)
}

function draw(samples: Float32Array): void {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D
  const { width, height } = canvas
  context.drawImage(canvas, -40, 0)
  context.fillStyle = '#fff'
  context.fillRect(width - 40, 0, 40, height)
  context.fillStyle = '#0b6e4f'
  for (let i = 0; i < 40; i++) {
    const loudest = Math.max(
      ...samples.subarray((i * chunk) / 40, ((i + 1) * chunk) / 40).map(Math.abs),
    )
    context.fillRect(width - 40 + i, (height * (1 - loudest)) / 2, 1, Math.max(1, height * loudest))
  }
}

/** Runs in the audio thread, which gives 128 samples at a time. */
const worklet = `registerProcessor('recorder', class extends AudioWorkletProcessor {
  samples = []
  process([[samples = []]]) {
    this.samples.push(...samples)
    if (this.samples.length >= ${chunk}) this.port.postMessage(Float32Array.from(this.samples.splice(0, ${chunk})))
    return true
  }
})`

async function record(): Promise<void> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
  const context = new AudioContext({ sampleRate: rate })
  await context.audioWorklet.addModule(
    URL.createObjectURL(new Blob([worklet], { type: 'text/javascript' })),
  )
  const recorder = new AudioWorkletNode(context, 'recorder')
  const send = listen()
  recorder.port.onmessage = ({ data }) => send(data)
  context.createMediaStreamSource(stream).connect(recorder)
  const end = stop
  stop = () => {
    for (const track of stream.getTracks()) track.stop()
    void context.close()
    end()
  }
}

/** Sends four words, each higher than the one before, as fast as they would be spoken. */
async function speak(): Promise<void> {
  const send = listen()
  const own = stop
  const sound = new Float32Array(3 * rate)
  for (const [word, pitch] of [110, 147, 196, 262].entries()) {
    const from = (0.3 + word * 0.65) * rate
    for (let i = 0; i < 0.35 * rate; i++) {
      const swell = Math.sin((Math.PI * i) / (0.35 * rate))
      for (let harmonic = 1; harmonic <= 6; harmonic++) {
        sound[from + i] +=
          (0.3 / harmonic) * swell * Math.sin((2 * Math.PI * pitch * harmonic * i) / rate)
      }
    }
  }
  for (let at = 0; at < sound.length && stop === own; at += chunk) {
    send(sound.map((x) => x + 0.001 * (Math.random() - 0.5)).subarray(at, at + chunk))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  if (stop === own) stop()
}

function on(id: string, run: () => void | Promise<void>): void {
  document.getElementById(id)?.addEventListener('click', async () => {
    try {
      await run()
    } catch (error) {
      status.textContent = (error as Error).message
    }
  })
}
on('microphone', record)
on('voice', speak)
on('stop', () => stop())
