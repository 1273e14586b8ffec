/** The commands of `serving jobs`. @module */
import { jobStatuses } from '../jobs/job.ts'
import type { JobAction } from '../jobs/operators.ts'
import {
  type Command,
  commanderOption,
  countOption,
  durationOption,
  Option,
  settingsOf,
} from './command-options.ts'
import type { JobsFlags, ListFlags } from './jobs-command.ts'

/** Adds them to the program. */
export function addJobs(program: Command): void {
  const jobs = program
    .command('jobs')
    .summary('list, show, cancel, retry, purge or await jobs, or pause their queue')
    .description('Looks at the jobs of a store, ends them or runs them again.')

  /** Adds a command of a store, with the flags that say which jobs if it is for many. */
  function jobsCommand(name: string, help: string, isOfMany: boolean): Command {
    const command = jobs.command(name).description(help).addOption(commanderOption('jobStore'))
    if (!isOfMany) return command
    return command
      .option('--api <name>', 'jobs of this API only')
      .addOption(new Option('--status <status>', 'jobs with this status only').choices(jobStatuses))
      .option('--caller <name>', 'jobs of this caller only')
      .option('--issuer <url>', "issuer of the caller's token")
      .addOption(durationOption('--newer <age>', 'jobs of less than this age, as 30m or 7d'))
      .addOption(durationOption('--older <age>', 'jobs of at least this age'))
  }

  const jobList = jobsCommand('list', 'Prints the latest jobs.', true)
    .addOption(countOption('--limit <number>', 'at most so many', 50))
    .option('--json', 'print JSON')
    .action(async (flags: ListFlags) => {
      const { listJobs } = await import('./jobs-command.ts')
      process.stdout.write(await listJobs(await settingsOf(jobList, undefined), flags))
    })
  const jobShow = jobsCommand('show', 'Prints a job as JSON.', false)
    .argument('ID', 'its id')
    .action(async (id: string) => {
      const { showJob } = await import('./jobs-command.ts')
      process.stdout.write(await showJob(await settingsOf(jobShow, undefined), id))
    })
  const jobActions: Readonly<Record<JobAction, string>> = {
    cancel: 'Ends a job, or jobs.',
    retry: 'Submits an ended job once more, or jobs that failed.',
    purge: 'Deletes the input, the result and the events of an ended job, or of jobs.',
  }
  for (const [action, help] of Object.entries(jobActions)) {
    const command = jobsCommand(action, help, true)
      .argument('[ID]', 'its id; without it, options say which jobs')
      .action(async (id: string | undefined, flags: JobsFlags) => {
        const { actOnJobs } = await import('./jobs-command.ts')
        const settings = await settingsOf(command, undefined)
        process.stdout.write(await actOnJobs(settings, action as JobAction, id, flags))
      })
  }
  const jobDrain = jobsCommand('drain', 'Waits until no job is queued or running.', false)
    .option('--api <name>', 'jobs of this API only')
    .addOption(durationOption('--timeout <time>', 'then exit with 1'))
    .action(async ({ api, timeout }: { readonly api?: string; readonly timeout?: number }) => {
      const { drainJobs } = await import('./jobs-command.ts')
      process.stdout.write(await drainJobs(await settingsOf(jobDrain, undefined), api, timeout))
    })
  const pauses = {
    pause: 'Lets no worker take jobs of an API: those that run continue.',
    resume: 'Lets workers take jobs of an API again.',
  }
  for (const [action, help] of Object.entries(pauses)) {
    const command = jobsCommand(action, `${help} Prints the state of its queue.`, false)
      .argument('API', 'its name')
      .action(async (api: string) => {
        const { pauseJobs } = await import('./jobs-command.ts')
        const settings = await settingsOf(command, undefined)
        process.stdout.write(await pauseJobs(settings, api, action === 'pause'))
      })
  }
}
