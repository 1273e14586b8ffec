/** Makes `words.gguf`, a model that knows one sentence: its output layer names the next word of each word. */
import { writeFileSync } from 'node:fs'

const sentence = ' Models answer requests in batches, while threads share the work of each core.'
const size = 64
const words = sentence.replaceAll(' ', '▁').split(/(?=▁)/)
// Texts are cut from left to right, so each beginning of a word is a token.
const parts = words.flatMap((word) => [...word].map((_, i) => word.slice(0, i + 1)).slice(1))
const bytes = Array.from(
  { length: 256 },
  (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`,
)
const tokens = [...new Set(['<unk>', '<s>', '</s>', ...bytes, ...parts])]
const types = tokens.map((token, i) => [2, 3, 3][i] ?? (token.startsWith('<0x') ? 6 : 1))

// Each token is a row of -1 and 1, the same in every run.
let state = 1
const rows = tokens.map(() =>
  Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 31 === 1 ? 1 : -1
  }),
)
const output = tokens.map(() => new Float32Array(size))
words.forEach((word, i) => {
  output[tokens.indexOf(words[i + 1] ?? '</s>')] = rows[tokens.indexOf(word)]
})

type Tensor = readonly [name: string, columns: number, rows: number, data?: readonly Float32Array[]]
const ones = new Float32Array(size).fill(1)
const tensors: readonly Tensor[] = [
  ['token_embd.weight', size, tokens.length, rows],
  ['output.weight', size, tokens.length, output],
  ...['output_norm', 'blk.0.attn_norm', 'blk.0.ffn_norm'].map(
    (name) => [`${name}.weight`, size, 1, [ones]] as const,
  ),
  // Zeros: the layer passes its input on.
  ...['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down'].map(
    (name) => [`blk.0.${name}.weight`, size, size] as const,
  ),
]

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const u64 = (value: number) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
const f32 = (value: number) => Buffer.from(Float32Array.of(value).buffer)
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
const list = (type: number, items: readonly Buffer[]) =>
  Buffer.concat([u32(9), u32(type), u64(items.length), ...items])
const facts: Readonly<Record<string, Buffer>> = {
  'general.architecture': Buffer.concat([u32(8), text('llama')]),
  'llama.attention.layer_norm_rms_epsilon': Buffer.concat([u32(6), f32(1e-5)]),
  'tokenizer.ggml.model': Buffer.concat([u32(8), text('llama')]),
  'tokenizer.ggml.tokens': list(8, tokens.map(text)),
  'tokenizer.ggml.scores': list(
    6,
    tokens.map((token) => f32(-token.length)),
  ),
  'tokenizer.ggml.token_type': list(5, types.map(u32)),
  ...Object.fromEntries(
    Object.entries({
      'llama.context_length': 256,
      'llama.embedding_length': size,
      'llama.block_count': 1,
      'llama.feed_forward_length': size,
      'llama.attention.head_count': 4,
      'llama.rope.dimension_count': size / 4,
      'tokenizer.ggml.bos_token_id': 1,
      'tokenizer.ggml.eos_token_id': 2,
    }).map(([name, value]) => [name, Buffer.concat([u32(4), u32(value)])]),
  ),
}

let offset = 0
const places = tensors.map(([name, columns, count]) => {
  const one = count === 1
  const dims = one ? [columns] : [columns, count]
  const place = Buffer.concat([text(name), u32(dims.length), ...dims.map(u64), u32(0), u64(offset)])
  offset += columns * count * 4
  return place
})
const head = Buffer.concat([
  Buffer.from('GGUF'),
  u32(3),
  u64(tensors.length),
  u64(Object.keys(facts).length),
  ...Object.entries(facts).flatMap(([name, fact]) => [text(name), fact]),
  ...places,
])
const data = tensors.map(([, columns, count, values]) =>
  values === undefined
    ? Buffer.alloc(columns * count * 4)
    : Buffer.concat(values.map((row) => Buffer.from(row.buffer))),
)
// The tensors begin at a multiple of 32 bytes.
const pad = Buffer.alloc((32 - (head.length % 32)) % 32)
writeFileSync(new URL('./words.gguf', import.meta.url), Buffer.concat([head, pad, ...data]))
