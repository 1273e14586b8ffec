import { defineConfig } from 'serving/config'

export default defineConfig({
  service: './service.ts',
  port: 8080,
  workers: 2,
  maxBodyBytes: '16MiB',
})
