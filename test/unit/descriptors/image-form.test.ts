import { type BadInput, io } from 'serving'
import { describe, expect, it } from 'vitest'
import { fixtureBytes } from '../../fixtures/images/pictures.ts'
import { requestOf } from './requests.ts'

const picture = fixtureBytes('rgb.png')

/** Returns a form with one part, as a client sends a file. */
function formOf(
  disposition: string,
  contentType: string | undefined,
  body: Uint8Array,
): Uint8Array {
  const type = contentType === undefined ? '' : `content-type: ${contentType}\r\n`
  return Buffer.concat([
    Buffer.from(`--b\r\ncontent-disposition: form-data; ${disposition}\r\n${type}\r\n`),
    body,
    Buffer.from('\r\n--b--\r\n'),
  ])
}

const read = async (body: Uint8Array, options: io.ImageOptions = {}) =>
  new io.Image(options).fromHttpRequest(requestOf(body, 'multipart/form-data; boundary=b'))
const refusal = (...args: Parameters<typeof read>): Promise<BadInput> =>
  read(...args).then(
    () => expect.unreachable('it was accepted'),
    (error) => error,
  )

describe('Image from a form', () => {
  it.each([
    ['fileobj', 'image/png'],
    ['upload_file', 'IMAGE/PNG; a=b'],
    ['x', undefined],
    ['x', 'application/octet-stream'],
  ])('reads the file of the field %s with type %s', async (field, type) => {
    const alone = await new io.Image().fromHttpRequest(requestOf(picture, 'image/png'))
    expect(await read(formOf(`name="${field}"; filename="a.png"`, type, picture))).toEqual(alone)
  })

  it('refuses a file of a type that is not allowed', async () => {
    const form = formOf('name="x"; filename="a.png"', 'image/png', picture)
    expect(await refusal(form, { allowedMimeTypes: ['image/jpeg'] })).toMatchObject({ status: 415 })
  })

  it('tells the type from the bytes, whatever the part says', async () => {
    const form = formOf('name="x"; filename="a.jpg"', 'image/jpeg', picture)
    expect(await refusal(form, { allowedMimeTypes: ['image/jpeg'] })).toMatchObject({ status: 415 })
  })

  it('refuses a form without a file', async () => {
    expect(await refusal(formOf('name="x"', undefined, picture))).toMatchObject({
      status: 400,
      reason: 'part',
    })
  })

  it('refuses a file that is no picture', async () => {
    const form = formOf('name="x"; filename="a.png"', 'image/png', Buffer.from('12345678'))
    expect(await refusal(form)).toMatchObject({ status: 400, reason: 'encoding' })
  })
})
