import { defineConfig } from 'vitest/config'

/** What measures memory and collections, which depend on the version of Node and on what else runs. */
export default defineConfig({
  test: { include: ['test/soak/**/*.memory.ts'], pool: 'forks', maxWorkers: 1 },
})
