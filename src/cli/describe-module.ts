/**
 * The process in which `serving build` loads what it has bundled: the service, then the modules of its models.
 * @module
 */
import { pathToFileURL } from 'node:url'
import { type DescribedService, describeService } from '../build/describe-service.ts'
import { loadedPackages } from '../modules/optional.ts'
import { explain } from './explain.ts'
import { loadService } from './load-service.ts'

/** What the process answers. */
export type DescribeAnswer = { readonly described: DescribedService } | { readonly failure: string }

const [, , file, ...modules] = process.argv
const send = (answer: DescribeAnswer) => process.send?.(answer, undefined, undefined, () => process.exit(0))

try {
  const service = await loadService(file)
  for (const path of modules) await import(pathToFileURL(path).href)
  send({ described: describeService(service, [...loadedPackages]) })
} catch (error) {
  send({ failure: explain(error) })
}
