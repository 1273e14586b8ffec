/** The client of the package by bundlers that people use, each with its defaults for browsers. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

async function byEsbuild(project, file) {
  const { build } = await import('esbuild')
  const { outputFiles, warnings } = await build({
    absWorkingDir: project,
    entryPoints: [file],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return { text: outputFiles[0].text, warnings: warnings.map(({ text }) => text) }
}

async function byRollup(project, file) {
  const { rollup } = await import('rollup')
  const { nodeResolve } = await import('@rollup/plugin-node-resolve')
  const warnings = []
  const bundle = await rollup({
    input: join(project, file),
    plugins: [nodeResolve()],
    onwarn: ({ message }) => warnings.push(message),
  })
  const { output } = await bundle.generate({ format: 'es' })
  await bundle.close()
  return { text: output[0].code, warnings }
}

async function byVite(project, file) {
  const { build, createLogger } = await import('vite')
  const warnings = []
  const warn = (text) => warnings.push(text)
  const { output } = await build({
    root: project,
    configFile: false,
    logLevel: 'warn',
    customLogger: { ...createLogger('warn'), warn, warnOnce: warn },
    build: { write: false, rollupOptions: { input: join(project, file) } },
  })
  return { text: output[0].code, warnings }
}

async function byWebpack(project, file) {
  const { default: webpack } = await import('webpack')
  const output = { path: project, filename: 'webpack.js' }
  const stats = await new Promise((resolve, reject) => {
    webpack({ context: project, entry: `./${file}`, mode: 'production', output }, (error, done) =>
      done === undefined ? reject(error) : resolve(done),
    )
  })
  const { errors, warnings } = stats.compilation
  if (errors.length > 0) throw errors[0]
  return {
    text: readFileSync(join(project, 'webpack.js'), 'utf8'),
    warnings: warnings.map(({ message }) => message),
  }
}

const bundlers = { esbuild: byEsbuild, Rollup: byRollup, Vite: byVite, webpack: byWebpack }

/** Bundles `serving/client` of a project, whole, as the global object `serving`; returns the script and warnings. */
export function bundleClient(project, bundler) {
  writeFileSync(
    join(project, 'main.js'),
    "import * as client from 'serving/client'\nglobalThis.serving = client\n",
  )
  return bundlers[bundler](project, 'main.js')
}
