/** Writes `film.webm` with Chromium: `node test/browser/make-film.mjs`. A square that moves, half a second. */
import { writeFileSync } from 'node:fs'
import puppeteer from 'puppeteer-core'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage()
const base64 = await page.evaluate(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 32, height: 24 })
  const context = canvas.getContext('2d')
  const options = { mimeType: 'video/webm;codecs=vp8', videoBitsPerSecond: 20_000 }
  const recorder = new MediaRecorder(canvas.captureStream(10), options)
  const parts = []
  recorder.ondataavailable = ({ data }) => parts.push(data)
  const ended = new Promise((resolve) => {
    recorder.onstop = resolve
  })
  recorder.start()
  for (let i = 0; i < 6; i++) {
    context.fillStyle = 'white'
    context.fillRect(0, 0, 32, 24)
    context.fillStyle = 'black'
    context.fillRect(4 * i, 8, 8, 8)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  recorder.stop()
  await ended
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
  return btoa(String.fromCharCode(...bytes))
})
await browser.close()
writeFileSync(new URL('film.webm', import.meta.url), Buffer.from(base64, 'base64'))
