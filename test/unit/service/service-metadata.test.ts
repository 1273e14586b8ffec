import { describe, expect, it } from 'vitest'
import { type HttpResponse, io, Service } from '../../../src/index.ts'
import { serviceMetadata } from '../../../src/service/service-metadata.ts'

/** What metadata says of a descriptor. */
function toldOf(input: io.IODescriptor) {
  const service = new Service('told')
  service.api({ input, output: new io.Text(), name: 'f' }, () => '')
  return serviceMetadata(service).apis[0].input
}

class Secretive extends io.IODescriptor<string> {
  readonly mimeType = 'text/x-secret'
  readonly apiKey = 'hunter2'
  readonly maxItems = 3
  readonly level = 'high'
  override readonly publicOptions = ['maxItems', 'absent']

  fromHttpRequest(): string {
    return ''
  }
  toHttpResponse(): HttpResponse {
    return { headers: [], body: '' }
  }
}

describe('metadata of a custom descriptor', () => {
  it('has the fields that it names as public, and no other', () => {
    const told = toldOf(new Secretive() as io.IODescriptor)
    expect(told.attributes.args).toEqual({ mime_type: 'text/x-secret', max_items: 3 })
  })

  it('has only the media type where it names none', () => {
    class Silent extends Secretive {
      override readonly publicOptions = []
    }
    expect(toldOf(new Silent() as io.IODescriptor).attributes.args).toEqual({ mime_type: 'text/x-secret' })
  })
})

describe('metadata of a built-in descriptor', () => {
  const all: readonly [string, io.IODescriptor<unknown, never>, Record<string, unknown>][] = [
    [
      'NumpyNdarray',
      new io.NumpyNdarray({ dtype: 'float32', shape: [-1, 4] }),
      {
        mime_type: 'application/json',
        dtype: 'float32',
        enforce_dtype: false,
        shape: [-1, 4],
        enforce_shape: false,
        non_finite: 'null',
      },
    ],
    [
      'PandasSeries',
      new io.PandasSeries({ dtype: 'int8' }),
      { mime_type: 'application/json', orient: 'records', dtype: 'int8', enforce_dtype: false, enforce_shape: false },
    ],
    ['Json', new io.JSON({ validateJson: true }), { mime_type: 'application/json', validate_json: true }],
    ['Text', new io.Text(), { mime_type: 'text/plain', content_type: 'text/plain' }],
    ['File', new io.File(), { mime_type: 'application/octet-stream', spool_above_bytes: 4194304 }],
    [
      'Multipart',
      new io.Multipart({ said: new io.Text() }),
      {
        mime_type: 'multipart/form-data',
        said: {
          descriptorId: 'serving.io.Text',
          attributes: { args: { mime_type: 'text/plain', content_type: 'text/plain' } },
        },
      },
    ],
  ]
  it.each(all)('%s has its options', (name, descriptor, args) => {
    expect(toldOf(descriptor as unknown as io.IODescriptor)).toEqual({
      descriptorId: `serving.io.${name}`,
      attributes: { args },
    })
  })
})
