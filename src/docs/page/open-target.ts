import { queryId } from '../../client/description.ts'
import { h } from './dom.ts'
import type { Field } from './field.ts'
import type { ListedApi } from './other-apis.ts'
import { textField } from './text-field.ts'
import { choiceControl, textControl } from './value-control.ts'

/**
 * What the reader asks of a handler that answers all below a path: the method, the path and the body.
 *
 * @returns the field of the body, what stands before it, and the call that is chosen.
 */
export function openTarget(api: ListedApi, methods: readonly string[]) {
  const slot = { label: '', isRequired: true, document: undefined }
  const method = choiceControl({ ...slot, name: 'Method', schema: {}, value: methods[0] }, methods)
  const path = textControl({
    ...slot,
    name: 'Path',
    schema: { description: `begins with ${api.path.slice(0, -1)}` },
    value: api.path.slice(0, -1),
  })
  const type = textControl({
    ...slot,
    name: 'Type of the body',
    schema: {},
    value: 'application/json',
  })
  const body = textField({ label: 'the body', type: 'text/plain', rows: 4 })
  const isRead = () => method.value() === 'GET'
  const box = h('div', type.element, h('div.member', body.element))
  const hideBody = () => {
    box.hidden = isRead()
  }
  hideBody()
  const element = h('div', { onchange: hideBody }, method.element, path.element)
  const field: Field = {
    ...body,
    element: box,
    read: () => {
      if (isRead()) return { type: undefined, data: '{}' }
      return { ...body.read(), type: String(type.value()) }
    },
  }
  const chosen = (): ListedApi => ({
    ...api,
    method: method.value() as ListedApi['method'],
    path: String(path.value()),
    input: { ...api.input, id: isRead() ? queryId : 'serving.io.Text' },
  })
  return { element, field, chosen }
}
