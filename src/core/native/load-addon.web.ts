import type * as node from './load-addon.ts'

/** Arrays are read and written by TypeScript outside of Node. */
export const loadAddon: typeof node.loadAddon = () => ({ reason: 'native add-ons need Node' })
