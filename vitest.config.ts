import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: {
      'serving/config': src('cli/config/index.ts'),
      'serving/client': src('client/index.ts'),
      'serving/onnx': src('runner/onnx/index.ts'),
      'serving/auth': src('api/auth/index.ts'),
      'serving/testing': src('testing/index.ts'),
      serving: src('index.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Forks, not threads: uWebSockets.js and the add-on are per process, and a crash must name its file.
    pool: 'forks',
    // Vitest leaves a core free for itself, which is half of a machine with two: 1.6 times as long there.
    maxWorkers: '100%',
    testTimeout: 30_000,
  },
})
