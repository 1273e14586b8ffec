import { parseJson, printJson } from '../../client/exact-json.ts'
import { startOf } from '../../core/json-schema/sample.ts'
import { hasMembers, shapeOf } from '../../core/json-schema/shape.ts'
import { type Control, sampleHint } from './control.ts'
import { h } from './dom.ts'
import { type Field, isJson, waysField } from './field.ts'
import { unnamedControl } from './nested-control.ts'
import { textField } from './text-field.ts'

/** @returns the field of a JSON value: fields for what its schema has, or the text. */
export function jsonField(
  label: string,
  schema: unknown,
  example: unknown,
  document: unknown,
): Field {
  const start = example ?? startOf(schema, document)
  const text = textField({ label: `${label} as JSON`, text: JSON.stringify(start, null, 2) })
  if (!hasFields(schema, document)) {
    const hint = sampleHint({ schema, isRequired: true, value: start, document })
    return { ...text, element: h('div', text.element, hint) }
  }
  const box = h('div')
  let control: Control
  const show = (value: unknown) => {
    control = unnamedControl('', schema, value, document)
    box.replaceChildren(control.element)
  }
  show(start)
  const fields: Field = {
    element: box,
    read: () => ({ type: 'application/json', data: printJson(control.value(), 2) }),
    write: (content) => {
      const isMine = isJson(content)
      if (isMine) show(parseJson(content.data))
      return isMine
    },
    mark: (locations) => control.mark(locations),
  }
  return waysField(label, { Fields: fields, JSON: text })
}

function hasFields(given: unknown, document: unknown): boolean {
  const { schema, variants } = shapeOf(given, document)
  const { additionalProperties: others, items, prefixItems } = schema
  const isNested = [others, items, prefixItems].some(
    (each) => Object(each) === each && Object.keys(each as object).length,
  )
  return variants.length > 0 || hasMembers(schema) || isNested
}
