import { describe, expect, it } from 'vitest'
import { Components } from '../../../../src/docs/openapi/components.ts'

const at = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('the schemas of a document', () => {
  it('have the definitions of others as components, with all references moved', () => {
    const components = new Components()
    const adopted = components.adopt(
      {
        type: 'array',
        items: { $ref: '#/$defs/Order' },
        $defs: {
          Order: {
            properties: {
              item: { $ref: '#/$defs/Item' },
              first: { $ref: '#/$defs/Item/properties/name' },
            },
          },
          Item: { properties: { name: { type: 'string' } } },
          Unused: {},
        },
      },
      'in',
    )
    expect(adopted).toEqual({ type: 'array', items: at('Order') })
    expect(components.schemas).toEqual({
      Order: { properties: { item: at('Item'), first: at('Item/properties/name') } },
      Item: { properties: { name: { type: 'string' } } },
    })
  })

  it('are components themselves where they refer to their root', () => {
    const components = new Components()
    const tree = {
      properties: { kids: { items: { $ref: '#' } }, kid: { $ref: '#/properties/kids/items' } },
    }
    expect(components.adopt(tree, 'tree')).toEqual(at('tree'))
    expect(components.schemas).toEqual({
      tree: { properties: { kids: { items: at('tree') }, kid: at('tree/properties/kids/items') } },
    })
  })

  it('share a definition of one name and meaning, and tell others apart', () => {
    const components = new Components()
    const list = (type: string) => ({ items: { $ref: '#/$defs/Item' }, $defs: { Item: { type } } })
    expect(components.adopt(list('string'), 'a')).toEqual({ items: at('Item') })
    expect(components.adopt(list('string'), 'b')).toEqual({ items: at('Item') })
    expect(components.adopt(list('number'), 'c')).toEqual({ items: at('c_Item') })
    expect(Object.keys(components.schemas)).toEqual(['Item', 'c_Item'])
  })

  it('have names that references may have, also those of parts with others', () => {
    const components = new Components()
    const list = (type: string) => ({ items: { $ref: '#/$defs/Item' }, $defs: { Item: { type } } })
    components.adopt(list('string'), 'a')
    expect(components.adopt(list('number'), 'mix_first part')).toEqual({
      items: at('mix_first_part_Item'),
    })
  })

  it('tell definitions apart that differ only in what they refer to', () => {
    const components = new Components()
    const pair = (type: string) => ({
      $ref: '#/$defs/Outer',
      $defs: { Outer: { items: { $ref: '#/$defs/Inner' } }, Inner: { type } },
    })
    expect([components.adopt(pair('string'), 'a'), components.adopt(pair('number'), 'b')]).toEqual([
      at('Outer'),
      at('b_Outer'),
    ])
    expect(components.schemas).toMatchObject({
      b_Outer: { items: at('b_Inner') },
      b_Inner: { type: 'number' },
    })
  })

  it('leave data alone that only looks like a reference', () => {
    const data = {
      const: { $ref: '#' },
      default: { $ref: '#/$defs/A' },
      properties: { $ref: { type: 'string' } },
    }
    expect(new Components().adopt(data, 'x')).toEqual(data)
  })

  it('name what zod leaves without a name after the API', () => {
    const components = new Components()
    const schema = {
      items: { $ref: '#/$defs/__schema0' },
      $defs: { __schema0: { type: 'string' } },
    }
    expect(components.adopt(schema, 'sum_request')).toEqual({ items: at('sum_request_schema0') })
  })

  it('have names that OpenAPI allows', () => {
    const components = new Components()
    components.adopt({ $ref: '#/$defs/a%20b', $defs: { 'a b': {} } }, 'x')
    expect(Object.keys(components.schemas)).toEqual(['a_b'])
  })
})
