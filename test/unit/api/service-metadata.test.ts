import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serviceMetadata } from '../../../src/api/service-metadata.ts'
import { type HttpResponse, io, Service } from '../../../src/index.ts'

/** Returns what metadata says of a descriptor. */
function metadataOf(input: io.IODescriptor) {
  const service = new Service('metadata')
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
    const metadata = metadataOf(new Secretive() as io.IODescriptor)
    expect(metadata.attributes.args).toEqual({ mime_type: 'text/x-secret', max_items: 3 })
  })

  it('calls it by its class, or by the name that it gives itself', () => {
    expect(metadataOf(new Secretive() as io.IODescriptor).descriptorId).toBe('Secretive')
    class Named extends Secretive {
      override readonly descriptorId = 'acme.Secret'
    }
    expect(metadataOf(new Named() as io.IODescriptor).descriptorId).toBe('acme.Secret')
  })

  it('of a built-in one has the name that io has for its class', () => {
    for (const [name, descriptor] of Object.entries(io)) {
      if (
        name === 'IODescriptor' ||
        !(typeof descriptor === 'function' && descriptor.prototype instanceof io.IODescriptor)
      )
        continue
      expect(descriptor.name).toBe(name)
    }
  })

  it('has only the media type where it names none', () => {
    class Silent extends Secretive {
      override readonly publicOptions = []
    }
    expect(metadataOf(new Silent() as io.IODescriptor).attributes.args).toEqual({
      mime_type: 'text/x-secret',
    })
  })
})

describe('metadata of JSON', () => {
  it('does not follow a schema that refers to itself', () => {
    const tree = z.object({
      get children() {
        return z.array(tree)
      },
    })
    expect(metadataOf(new io.JSON({ schema: tree }) as io.IODescriptor).attributes.args).toEqual({
      mime_type: 'application/json',
      big_numbers: 'error',
      max_bytes: 4194304,
      max_values: 50_000,
      max_keys: 50_000,
    })
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
        max_bytes: 4194304,
      },
    ],
    [
      'PandasSeries',
      new io.PandasSeries({ dtype: 'int8' }),
      {
        mime_type: 'application/json',
        orient: 'records',
        dtype: 'int8',
        enforce_dtype: false,
        enforce_shape: false,
      },
    ],
    [
      'PandasDataFrame',
      new io.PandasDataFrame({ dtype: { a: 'int8', b: 'str' } }),
      {
        mime_type: 'application/json',
        orient: 'records',
        apply_column_names: false,
        dtype: { a: 'int8', b: 'str' },
        enforce_dtype: false,
        enforce_shape: false,
        default_format: 'json',
      },
    ],
    [
      'Image',
      new io.Image({ pilmode: 'L', mimeType: 'image/png', allowedMimeTypes: ['image/png'] }),
      {
        mime_type: 'image/png',
        pilmode: 'L',
        allowed_mime_types: ['image/png'],
        max_pixels: 64_000_000,
      },
    ],
    [
      'JSON',
      new io.JSON({ validateJson: true }),
      {
        mime_type: 'application/json',
        validate_json: true,
        big_numbers: 'error',
        max_bytes: 4194304,
        max_values: 250_000,
        max_keys: 50_000,
      },
    ],
    [
      'Text',
      new io.Text(),
      { mime_type: 'text/plain', content_type: 'text/plain', max_bytes: 4194304 },
    ],
    ['File', new io.File(), { mime_type: 'application/octet-stream', spool_above_bytes: 4194304 }],
    [
      'Multipart',
      new io.Multipart({ said: new io.Text() }),
      {
        mime_type: 'multipart/form-data',
        said: {
          descriptorId: 'serving.io.Text',
          attributes: {
            args: { mime_type: 'text/plain', content_type: 'text/plain', max_bytes: 4194304 },
          },
        },
      },
    ],
  ]
  it.each(all)('%s has its options', (name, descriptor, args) => {
    expect(metadataOf(descriptor as unknown as io.IODescriptor)).toEqual({
      descriptorId: `serving.io.${name}`,
      attributes: { args },
    })
  })
})
