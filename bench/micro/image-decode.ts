/**
 * A JPEG of 1920×1080, read and written: the Image descriptor against the bare codecs.
 * Run: `npx tsx bench/micro/image-decode.ts [rounds]`.
 * Needs a quiet machine: on a busy one the ratios vary by a quarter.
 * @module
 */

import { HeaderList, HttpRequest, io, RasterImage } from '../../src/index.ts'
import { type ImageHeader, readImageHeader } from '../../src/values/image/header.ts'
import { jpegStatus } from '../../src/values/image/image-addon.ts'
import { ImageCodec } from '../../src/values/image/image-codec.ts'
import { jpegCodec } from '../../src/values/image/jpeg.ts'
import { besideBaseline } from './baseline.ts'

const rounds = Number(process.argv.slice(2).find((word) => word !== '--save') ?? 15)
// A single decode takes one of two times, depending on whether the allocator has mapped pages for its 6 MB.
const batch = 20
const [width, height] = [1920, 1080]
/** Returns a synthetic photograph: smooth colours with some grain. */
function photograph(): RasterImage {
  const data = new Uint8Array(width * height * 3)
  for (let i = 0; i < data.length; i++) {
    const x = Math.floor(i / 3) % width
    const y = Math.floor(i / 3 / width)
    data[i] = 128 + 90 * Math.sin(x / (97 + (i % 3) * 31)) * Math.cos(y / 71) + Math.random() * 12
  }
  return new RasterImage('RGB', width, height, data)
}

const image = new io.Image()
const picture = photograph()
const jpeg = (await image.toHttpResponse(picture)).body as Uint8Array
const header = readImageHeader(jpeg) as ImageHeader
const headers = HeaderList.from({ 'content-type': 'image/jpeg' })
const codec = new ImageCodec(jpegCodec)
const other = new ImageCodec(undefined)

const contenders: Readonly<Record<string, () => Promise<unknown>>> = {
  codec: () => codec.decode(jpeg, header),
  descriptor: () => image.fromHttpRequest(new HttpRequest(headers, jpeg)),
  // The bytes are copied once, as from a socket.
  'descriptor, borrowed body': () => image.fromHttpRequest(HttpRequest.lend(headers, jpeg, true)),
  '@napi-rs/image': () => other.decode(jpeg, header),
  'codec, writing': () => codec.encode(picture, 'image/jpeg'),
  '@napi-rs/image, writing': () => other.encode(picture, 'image/jpeg'),
}

const decoded = await image.fromHttpRequest(new HttpRequest(headers, jpeg))
const bare = await codec.decode(jpeg, header)
if (Buffer.compare(decoded.data, bare.data) !== 0)
  throw new Error('the descriptor and the codec disagree')

const times = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]))
for (let round = 0; round <= rounds; round++) {
  // In random order: a contender pays for collecting the pixels of the one before.
  for (const [name, run] of shuffled(Object.entries(contenders))) {
    const start = performance.now()
    for (let i = 0; i < batch; i++) await run()
    // The first round warms up.
    if (round > 0) times.get(name)?.push((performance.now() - start) / batch)
  }
}
function shuffled<T>(list: T[]): T[] {
  return list
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1]
const base = median(times.get('codec') ?? [])
const library = jpegStatus.library ?? '@napi-rs/image'
console.log(
  `JPEG ${width}×${height}, ${jpeg.length} bytes, medians of ${rounds} rounds; the codec is ${library}`,
)
for (const [name, list] of times)
  console.log(
    `${name.padEnd(28)} ${median(list).toFixed(2)} ms  ${besideBaseline(name, base / median(list))}`,
  )
