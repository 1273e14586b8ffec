import type { BlobStore } from './blob-store.ts'
import type { JobStore } from './job-store.ts'
import type { WebhookOptions } from './webhooks.ts'

/** Where a service keeps its jobs. */
export interface JobsOptions {
  /**
   * `sqlite:` with a file, `redis://…`, or a store of your own. The command's `--job-store` takes precedence. Default
   * `sqlite:./jobs.db`, in the working directory.
   */
  readonly store?: string | JobStore
  /**
   * Where bodies above 1 MiB are kept: a folder, which several machines may share, a bucket as
   * `s3://BUCKET/FOLDER?endpoint=URL&region=REGION`, or a store of your own.
   *
   * @default a folder beside the file of `sqlite:`, and Redis itself
   */
  readonly blobs?: string | BlobStore
  /**
   * Lets clients name a `Webhook-Url`, which is told the end of the job.
   *
   * @default they may not
   */
  readonly webhooks?: WebhookOptions
}
