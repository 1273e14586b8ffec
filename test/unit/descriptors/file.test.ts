import { createReadStream, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import {
  BadInput,
  BadOutput,
  BinaryFile,
  HeaderList,
  HttpRequest,
  InvalidArgument,
  io,
  MissingDependencyException,
  UnsupportedMediaType,
  ValueError,
} from 'serving'
import { describe, expect, it } from 'vitest'
import { detectMimeType } from '../../../src/core/file/file-type.ts'
import { singleFilePart } from '../../../src/descriptors/single-file-part.ts'
import { formType as form, formOf, refusal, requestOf } from './requests.ts'

const text = (file: BinaryFile) => Buffer.from(file.bytes).toString()
const read = (descriptor: io.File, body: string | Uint8Array, contentType?: string) => {
  const file = descriptor.fromHttpRequest(requestOf(body, contentType)) as BinaryFile
  return { name: file.name, type: file.mimeType, text: text(file), size: file.size }
}

describe('File input', () => {
  it.each([
    ['application/octet-stream', 'abc', 'application/octet-stream'],
    ['text/plain; charset=utf-8', 'abc', 'text/plain; charset=utf-8'],
    ['application/octet-stream', '', 'application/octet-stream'],
    [';;', 'abc', 'application/octet-stream'],
    [undefined, 'abc', 'application/octet-stream'],
  ])('takes a body of type %s', (contentType, body, type) => {
    expect(read(new io.File(), body, contentType)).toEqual({
      name: undefined,
      type,
      text: body,
      size: body.length,
    })
  })

  it('takes the type that it was made for, whatever the case and the parameters', () => {
    const pdf = new io.File({ mimeType: 'Application/PDF' })
    expect(read(pdf, 'abc', 'application/pdf; x=1')).toMatchObject({
      text: 'abc',
      type: 'application/pdf; x=1',
    })
    expect(read(pdf, 'abc')).toMatchObject({ text: 'abc', type: 'Application/PDF' })
    expect(refusal(pdf, 'abc', 'text/plain')).toMatchObject({ status: 415 })
    expect(refusal(pdf, 'abc', 'application/pdfx')).toBeInstanceOf(UnsupportedMediaType)
  })

  it('takes the name of a body from its content-disposition, without directories', () => {
    const headers = HeaderList.from({ 'content-disposition': 'attachment; filename="../a.bin"' })
    const file = new io.File().fromHttpRequest(
      new HttpRequest(headers, Buffer.from('x')),
    ) as BinaryFile
    expect(file.name).toBe('a.bin')
  })

  it('takes the first file of a form, whatever its field is called', () => {
    const body = formOf(['t', 'x'], ['anything', 'abc', 'n', 'text/plain'], ['f', 'def', 'm'])
    expect(read(new io.File(), body, form)).toEqual({
      name: 'n',
      type: 'text/plain',
      text: 'abc',
      size: 3,
    })
  })

  it('takes the first file of its type out of a form', () => {
    const pdf = new io.File({ mimeType: 'application/pdf' })
    const body = formOf(
      ['a', 'one', '1', 'text/plain'],
      ['b', 'two', '2', 'Application/PDF; x=1'],
      ['c', 'three', '3', 'application/pdf'],
    )
    expect(read(pdf, body, form)).toMatchObject({ name: '2', text: 'two' })
    expect(refusal(pdf, formOf(['a', 'one', '1', 'text/plain']), form)).toMatchObject({
      status: 415,
    })
    expect(read(pdf, formOf(['a', 'one', '1']), form)).toMatchObject({
      text: 'one',
      type: 'application/pdf',
    })
    const curl = formOf(
      ['a', 'one', 'a.txt', 'application/octet-stream'],
      ['b', 'two', 'b.pdf', 'application/octet-stream'],
    )
    expect(read(pdf, curl, form)).toMatchObject({ text: 'two', type: 'application/pdf' })
  })

  it('takes an empty file with a name', () => {
    const named = formOf(['f', '', 'empty.txt', 'text/plain'])
    expect(read(new io.File(), named, form)).toMatchObject({ name: 'empty.txt', size: 0 })
  })

  it.each([
    ['a field only', formOf(['f', 'abc'])],
    ['no parts', formOf()],
    ['a file that was not chosen', formOf(['f', '', '', 'application/octet-stream'])],
    ['the end cut off', formOf(['f', 'abc', 'n']).subarray(0, -10)],
  ])('refuses a form with %s', (_, body) => {
    expect(refusal(new io.File(), body, form)).toMatchObject({ status: 400, reason: 'part' })
  })

  it('gives singleFilePart to other descriptors', async () => {
    const request = requestOf(formOf(['t', 'x'], ['f', 'PNG', 'n', 'image/png']), form)
    const selection = (type: string) => ({
      accepts: ({ essence }: { readonly essence: string }) => essence === type,
      types: type,
      owner: 'Image',
    })
    const bytes = await singleFilePart(request, selection('image/png'))
    expect(Buffer.from(bytes).toString()).toBe('PNG')
    expect(() => singleFilePart(request, selection('image/gif'))).toThrow(UnsupportedMediaType)
    const png = requestOf('x', 'image/png')
    expect(() => singleFilePart(png, selection('image/png'))).toThrow(UnsupportedMediaType)
  })
})

describe('File output', () => {
  const bytes = Buffer.from('RIFF')
  const headersOf = (options: io.FileOptions, value: BinaryFile | Uint8Array) =>
    Object.fromEntries(new io.File(options).toHttpResponse(value).headers)

  it('has the type of the descriptor, else the one of the file, else that of bytes', () => {
    const file = new BinaryFile(bytes, { mimeType: 'audio/x-own' })
    expect(headersOf({ mimeType: 'audio/wav' }, bytes)).toMatchObject({
      'content-type': 'audio/wav',
    })
    expect(headersOf({ mimeType: 'audio/wav' }, file)).toMatchObject({
      'content-type': 'audio/wav',
    })
    expect(headersOf({}, file)).toMatchObject({ 'content-type': 'audio/x-own' })
    expect(headersOf({}, bytes)).toMatchObject({ 'content-type': 'application/octet-stream' })
    expect(headersOf({}, new BinaryFile(bytes))).toMatchObject({
      'content-type': 'application/octet-stream',
    })
  })

  it.each([
    ['text/html', 'attachment'],
    ['Text/HTML; charset=utf-8', 'attachment'],
    ['application/xhtml+xml', 'attachment'],
    ['image/svg+xml', 'attachment'],
    ['text/xml', 'attachment'],
    ['text/plain; a=html', undefined],
    ['image/png', undefined],
  ])('opens no scripts of an upload in a browser: %s', (mimeType, disposition) => {
    const file = new BinaryFile(bytes, { mimeType })
    const headers = headersOf({}, file)
    expect([headers['content-disposition'], headers['x-content-type-options']]).toEqual([
      disposition,
      'nosniff',
    ])
    expect(headersOf({ mimeType }, file)['content-disposition']).toBeUndefined()
  })

  it.each([
    ['a.pdf', 'attachment; filename="a.pdf"'],
    [
      'naïve "文" 100%.pdf',
      `attachment; filename="na_ve ___ 100_.pdf"; filename*=UTF-8''na%C3%AFve%20%22%E6%96%87%22%20100%25.pdf`,
    ],
    [
      "a'(b)*\r\n.pdf",
      `attachment; filename="a'(b)*__.pdf"; filename*=UTF-8''a%27%28b%29%2A%0D%0A.pdf`,
    ],
  ])('says the name %j', (name, disposition) => {
    expect(headersOf({}, new BinaryFile(bytes, { name }))).toMatchObject({
      'content-disposition': disposition,
    })
  })

  it('refuses other values', () => {
    for (const value of ['text', null, undefined, {}, 5]) {
      expect(() => new io.File().toHttpResponse(value as never)).toThrow(BadOutput)
    }
  })
})

describe('File options', () => {
  it('know one kind', () => {
    expect(new io.File({ kind: 'binaryio' }).kind).toBe('binaryio')
    expect(() => new io.File({ kind: 'textio' as 'binaryio' })).toThrow(ValueError)
  })

  it('are accepted when they are unknown', () => {
    expect(new io.File({ foo: 1, mimeType: 'a/b' }).mimeType).toBe('a/b')
  })

  it('are checked', () => {
    expect(() => new io.File({ mimeType: 'pdf' })).toThrow(InvalidArgument)
    expect(() => new io.File({ spoolAboveBytes: -1 })).toThrow(InvalidArgument)
  })
})

describe('File.fromSample', () => {
  const folder = mkdtempSync(join(tmpdir(), 'samples-'))
  const path = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )

  it.each([
    ['a file by its bytes', () => path('png', png), 'image/png'],
    ['a file by its bytes before its name', () => path('png.txt', png), 'image/png'],
    ['a file by its name', () => path('a.csv', 'a,b\n'), 'text/csv'],
    ['bytes', () => png, 'image/png'],
    [
      'a BinaryFile by its own type',
      () => new BinaryFile(png, { mimeType: 'image/x-own' }),
      'image/x-own',
    ],
    ['a Blob by its type', () => new Blob(['x'], { type: 'text/x-own' }), 'text/x-own'],
    ['a Blob by its bytes', () => new Blob([png]), 'image/png'],
    ['a File by its name', () => new File(['x'], 'a.log'), 'text/plain'],
    ['a URL of a file', () => pathToFileURL(path('u.csv', 'a,b')), 'text/csv'],
    ['a ReadStream by its name', () => createReadStream(path('s.csv', 'a,b')), 'text/csv'],
    [
      'a stream by its bytes',
      () => Readable.from([png.subarray(0, 4), png.subarray(4)]),
      'image/png',
    ],
    ['sound by its name', () => path('x.mp3', 'noise'), 'audio/mpeg'],
    ['an archive by its name', () => path('x.zip', 'noise'), 'application/zip'],
    ['Parquet by its name', () => path('x.parquet', 'noise'), 'application/vnd.apache.parquet'],
    ['a program by its name', () => path('x.py', 'print()'), 'text/x-python'],
    ['a notebook by its name', () => path('x.ipynb', 'noise'), 'application/x-ipynb+json'],
    [
      'a BinaryFile by its name',
      () => new BinaryFile(Buffer.from('{}'), { name: 'a.JSON' }),
      'application/json',
    ],
  ])('knows %s', async (_, sample, mimeType) => {
    const descriptor = await io.File.fromSample(sample())
    expect(descriptor.mimeType).toBe(mimeType)
    expect(descriptor.sample).toMatchObject({ mimeType })
    expect(descriptor.sample?.bytes).toBeInstanceOf(Uint8Array)
  })

  it('keeps a given type and other options', async () => {
    const descriptor = await io.File.fromSample(path('b.png', png), {
      mimeType: 'a/b',
      spoolAboveBytes: 7,
    })
    expect(descriptor).toMatchObject({ mimeType: 'a/b', spoolAboveBytes: 7 })
    expect(descriptor.sample).toMatchObject({ name: 'b.png', size: png.length })
  })

  it('cannot tell everything', async () => {
    await expect(io.File.fromSample(path('noise', 'noise'))).rejects.toThrow(ValueError)
    await expect(io.File.fromSample(Buffer.from('noise'))).rejects.toThrow(ValueError)
    await expect(io.File.fromSample(path('noise.constructor', 'noise'))).rejects.toThrow(ValueError)
  })

  it('blames the caller for what cannot be read', async () => {
    await expect(io.File.fromSample(join(folder, 'missing.png'))).rejects.toThrow(BadInput)
    await expect(io.File.fromSample(folder)).rejects.toThrow(BadInput)
    await expect(io.File.fromSample(5 as never)).rejects.toThrow(BadInput)
    await expect(io.File.fromSample(createReadStream(join(folder, 'missing.png')))).rejects.toThrow(
      BadInput,
    )
    await expect(io.File.fromSample(new URL('http://127.0.0.1:9/a.png'))).rejects.toThrow(BadInput)
    await expect(io.File.fromSample(Readable.from([{}]) as never)).rejects.toThrow(BadInput)
  })

  it('names the package that is missing', async () => {
    // As Node says it, for whom file-type is there.
    const absent = new Error("Cannot find package 'file-type' imported from /app/service.js")
    const detection = detectMimeType(png, 'File.fromSample', () => Promise.reject(absent))
    await expect(detection).rejects.toThrow(MissingDependencyException)
    await expect(detection).rejects.toThrow('npm install "file-type@^21.0.0"')
  })

  it('without a readable type in its request or its part has none, so that it can be sent back', async () => {
    const descriptor = new io.File()
    for (const type of [
      'appli\u{fffd}"on/octet-stream',
      'text/plain; charset="\u{fffd}"',
      'text',
      '',
    ]) {
      const body = formOf(['f', 'abc', 'x.bin', type])
      const received = await descriptor.fromHttpRequest(requestOf(body, form))
      expect(received.mimeType).toBe('application/octet-stream')
      expect((await descriptor.fromHttpRequest(requestOf('abc', type))).mimeType).toBe(
        'application/octet-stream',
      )
    }
  })
})
