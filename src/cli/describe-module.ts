/**
 * The process in which `serving build` loads what it has bundled: the service, then the modules of its models.
 * @module
 */
import { pathToFileURL } from 'node:url'
import { loadedPackages } from '../core/modules/optional.ts'
import { describeService } from './build/describe-service.ts'
import { answerParent } from './child-answer.ts'
import { explain } from './explain.ts'
import { loadService } from './load-service.ts'

const [, , file, ...modules] = process.argv

try {
  const service = await loadService(file)
  for (const path of modules) await import(pathToFileURL(path).href)
  answerParent({ value: describeService(service, [...loadedPackages]) })
} catch (error) {
  answerParent({ failure: explain(error) })
}
