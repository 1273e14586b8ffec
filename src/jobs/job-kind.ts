import type { AsyncSettings } from '../api/async-options.ts'
import { Hooks } from '../api/hooks.ts'
import type { Host, Protocol } from '../api/protocol.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Jobs } from './jobs.ts'
import { kindMark, type Submitted } from './new-job.ts'
import type { JobVisit } from './rows.ts'

/** Jobs of a protocol, beside those of APIs. */
export interface JobKind extends Submitted {
  /** Answers an attempt, whose visit the service has let in when the job began. `jobs`: of the server that runs it. */
  answer(request: HttpRequest, visit: JobVisit, jobs: Jobs): Promise<HttpResponse>
}

/** @returns a kind that the auth of the service guards. `name`: without the mark of kinds. */
export function jobKind(name: string, settings: AsyncSettings, answer: JobKind['answer']): JobKind {
  const guards = { auth: undefined, hooks: new Hooks(), slots: undefined }
  return { name: kindMark + name, async: settings, ...guards, answer }
}

/** A protocol with jobs of its own: the server opens a store for them. */
export interface JobProtocol extends Protocol {
  readonly jobKinds: readonly JobKind[]
  /** `jobs`: of the server; undefined for documents, and for a server without sockets. */
  attach(host: Host, jobs?: Jobs): void | Promise<void>
}

/** Whether a protocol has jobs of its own. */
export function isJobProtocol(protocol: Protocol): protocol is JobProtocol {
  return 'jobKinds' in protocol
}
