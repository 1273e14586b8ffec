import {
  BadInput,
  type HttpRequest,
  type HttpResponse,
  io,
  Service,
  UnsupportedMediaType,
} from 'serving'

export class Csv extends io.IODescriptor<string[][]> {
  readonly mimeType = 'text/csv'
  // Only content-type is read, so the server copies no other header.
  override readonly readsHeaders = []

  fromHttpRequest(request: HttpRequest): string[][] {
    const type = request.headers.get('content-type') ?? this.mimeType
    if (!/^text\/csv *(;|$)/i.test(type))
      throw new UnsupportedMediaType(`expected text/csv for Csv, received ${type}`)
    const text = new TextDecoder().decode(request.peek())
    const quote = text.indexOf('"')
    if (quote >= 0)
      throw new BadInput('expected CSV without quotes for Csv', { reason: 'syntax', offset: quote })
    return text.split('\n').map((line) => line.split(','))
  }

  toHttpResponse(rows: string[][]): HttpResponse {
    return {
      headers: [['content-type', this.mimeType]],
      body: rows.map((row) => row.join(',')).join('\n'),
    }
  }
}

const svc = new Service('csv')

svc.api({ input: new Csv(), output: new Csv() }, function reverse(rows) {
  return rows.toReversed()
})

export default svc
