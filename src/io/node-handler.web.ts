import { functionOfNode } from '../core/absent.web.ts'

export const nodeHandler = functionOfNode('nodeHandler')
