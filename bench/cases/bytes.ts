/**
 * Pictures, files and forms.
 * @module
 */
import { io, RasterImage } from 'serving'
import { meanOf } from '../servers/mean.ts'
import { type BenchCase, type CasePlan, echo, everyone, sameJson, seeded } from './case.ts'

const [width, height] = [1920, 1080]

/** Returns a synthetic photograph: smooth colours with some grain. */
function photograph(): RasterImage {
  const random = seeded()
  const data = new Uint8Array(width * height * 3)
  for (let i = 0; i < data.length; i++) {
    const x = Math.floor(i / 3) % width
    const y = Math.floor(i / 3 / width)
    data[i] = 128 + 90 * Math.sin(x / (97 + (i % 3) * 31)) * Math.cos(y / 71) + random() * 12
  }
  return new RasterImage('RGB', width, height, data)
}

async function picture(mimeType: string): Promise<Omit<BenchCase, 'name'>> {
  const raster = photograph()
  const mean = raster.data.reduce((sum, sample) => sum + sample, 0) / raster.data.length
  const bytes = (await new io.Image({ mimeType }).toHttpResponse(raster)).body as Uint8Array
  return echo('/mean', mimeType, bytes, {
    connections: 4,
    bare: { contentType: 'application/json', body: Buffer.from(String(mean)) },
    // Decoders of JPEG differ by rounding.
    isRight: (answer) => Math.abs(Number(answer) - mean) < 0.5,
  })
}

const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } as const

/** A picture to the input of an image model; the answer is the mean of each channel. */
async function tensor(): Promise<Omit<BenchCase, 'name'>> {
  const raster = photograph()
  const { data } = await raster.toTensor({ size: [224, 224], ...imagenet })
  const means = [0, 1, 2].map((c) => meanOf(data.subarray(c * 224 * 224, (c + 1) * 224 * 224)))
  return echo('/tensor', 'image/jpeg', await raster.encode('image/jpeg'), {
    connections: 4,
    bare: { contentType: 'application/json', body: Buffer.from(JSON.stringify(means)) },
    // Decoders and filters differ by rounding.
    isRight: (answer) => {
      const given: number[] = JSON.parse(answer.toString())
      return given.length === 3 && given.every((mean, c) => Math.abs(mean - means[c]) < 0.02)
    },
  })
}

const boundary = '----benchmark7MA4YWxkTrZu0gW2'

function form(): Omit<BenchCase, 'name'> {
  const part = (head: string, type: string, body: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
  const body = [
    part('name="arr"', 'application/json', '[1.5,2.5,3]'),
    part('name="meta"', 'application/json', '{"x":1}'),
    part('name="file"; filename="a.bin"', 'application/octet-stream', 'hello'),
    `--${boundary}--\r\n`,
  ].join('')
  const right = { sum: 7, x: 1, size: 5 }
  return echo('/form', `multipart/form-data; boundary=${boundary}`, body, {
    bare: { contentType: 'application/json', body: Buffer.from(JSON.stringify(right)) },
    isRight: sameJson(right),
  })
}

function file(bytes: number): Uint8Array {
  const random = seeded()
  return Uint8Array.from({ length: bytes }, () => random() * 256)
}

/** Pictures, files and forms. */
export const bytesCases: readonly CasePlan[] = [
  {
    name: 'JPEG 1080p to its mean',
    isQuick: false,
    contenders: [
      ...everyone,
      'rust',
      'fastify, sharp',
      'codec in a loop',
      '@napi-rs/image in a loop',
    ],
    targets: {
      'codec in a loop': 0.95,
      '@napi-rs/image in a loop': 0.95,
      fastapi: 1,
      bentoml: 1,
      'fastify, sharp': 1,
    },
    make: () => picture('image/jpeg'),
  },
  {
    name: 'JPEG 1080p to a 3×224×224 tensor',
    isQuick: false,
    contenders: [...everyone, 'rust', 'fastify, sharp'],
    targets: { fastapi: 3, bentoml: 3 },
    make: tensor,
  },
  {
    name: 'PNG 1080p to its mean',
    isQuick: false,
    contenders: ['bare', 'serving', 'fastify', 'fastapi', 'fastify, sharp', 'codec in a loop'],
    targets: {},
    make: () => picture('image/png'),
  },
  {
    name: 'file 10 MB',
    isQuick: false,
    contenders: [...everyone, 'rust', 'go'],
    targets: { bare: 0.85, rust: 0.9 },
    make: () => echo('/file', 'application/octet-stream', file(10_000_000), { connections: 4 }),
  },
  {
    name: 'file 1 MB',
    isQuick: false,
    contenders: [...everyone, 'go', 'rust'],
    targets: {},
    make: () => echo('/file', 'application/octet-stream', file(1_000_000), { connections: 8 }),
  },
  {
    name: 'file 1 KB',
    isQuick: true,
    contenders: [...everyone, 'rust', 'go'],
    targets: {},
    make: () => echo('/file', 'application/octet-stream', file(1000)),
  },
  {
    name: 'form of three small parts',
    isQuick: true,
    contenders: [...everyone, 'rust'],
    targets: { fastify: 3, bentoml: 20 },
    make: form,
  },
]
