/**
 * Messages with large memory between processes of Node: the memory goes before its message, in pieces, so that the
 * event loop copies one in a turn.
 * @module
 */
import { DefaultDeserializer, DefaultSerializer } from 'node:v8'
import { InvalidArgument } from '../core/errors.ts'
import { bytesOf } from '../core/memory/byte-copy.ts'
import { turnBytes } from '../core/memory/copies.ts'
import { allocate } from '../core/platform.ts'

interface Piece {
  readonly kind: 'piece'
  /** Of its memory in the message. */
  readonly number: number
  readonly size: number
  readonly at: number
  readonly bytes: Uint8Array
}

interface Whole {
  readonly kind: 'whole'
  /** The message, with numbers in place of its memory. */
  readonly bytes: Uint8Array
  readonly types: readonly string[]
}

// Node's types lack what both override.
interface HostObjects {
  _writeHostObject(view: object): void
  _readHostObject(): unknown
}
const { _writeHostObject } = DefaultSerializer.prototype as unknown as HostObjects
const { _readHostObject } = DefaultDeserializer.prototype as unknown as HostObjects

/**
 * @param views - Memory in the message that goes in pieces.
 * @returns messages to send one after the other, with no other one between.
 */
export function* inPieces(
  message: unknown,
  views: readonly ArrayBufferView[],
): Generator<Piece | Whole> {
  const writer = Object.assign(new DefaultSerializer(), {
    _writeHostObject(view: ArrayBufferView) {
      writer.writeUint32(views.indexOf(view) + 1)
      if (!views.includes(view)) _writeHostObject.call(writer, view)
    },
  })
  writer.writeHeader()
  writer.writeValue(message)
  const types = views.map((view) => Reflect.get(view, Symbol.toStringTag))
  for (const [number, view] of views.entries()) {
    const memory = bytesOf(view)
    const size = memory.length
    for (let at = 0; at < size; at += turnBytes) {
      if (memory.length < size)
        throw new InvalidArgument('expected memory that stays until it is copied, it was moved')
      yield { kind: 'piece', number, size, at, bytes: memory.subarray(at, at + turnBytes) }
    }
  }
  yield { kind: 'whole', bytes: writer.releaseBuffer(), types }
}

/** @returns what takes messages and pieces, and passes on the messages. */
export function piecesReader(receive: (message: never) => void): (message: unknown) => void {
  let memory: ArrayBufferLike[] = []
  return (sent) => {
    const message = sent as Piece | Whole
    if (message.kind === 'piece') {
      const { number, size, at, bytes } = message
      if (at === 0) memory[number] = allocate(size).buffer
      new Uint8Array(memory[number], at).set(bytes)
    } else if (message.kind === 'whole') {
      const views = message.types.map((type, i) => new (Reflect.get(globalThis, type))(memory[i]))
      memory = []
      const reader = Object.assign(new DefaultDeserializer(message.bytes), {
        _readHostObject() {
          const number = reader.readUint32()
          return number === 0 ? _readHostObject.call(reader) : views[number - 1]
        },
      })
      reader.readHeader()
      receive(reader.readValue() as never)
    } else receive(sent as never)
  }
}
