/** The commands of `serving jobs`. @module */
import { jobStatuses } from '../jobs/job.ts'
import type { JobStore } from '../jobs/job-store.ts'
import type { JobAction } from '../jobs/operators.ts'
import {
  type Command,
  commanderOption,
  countOption,
  durationOption,
  Option,
  settingsOf,
} from './command-options.ts'
import type { DrainFlags, JobsFlags, ListFlags } from './jobs-command.ts'

type JobCommands = typeof import('./jobs-command.ts')

/** Adds them to the program. */
export function addJobs(program: Command): void {
  const jobs = program
    .command('jobs')
    .summary('list, show, cancel, retry, purge or await jobs, or pause their queue')
    .description('Looks at the jobs of a store, ends them or runs them again.')

  /** Adds a command of a store, with the flags that say which jobs if it is for many. */
  function jobsCommand(name: string, help: string, isOfMany = false): Command {
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

  /** Lets a command print what a function of `jobs-command.ts` returns for its store, arguments and flags. */
  function print<T extends readonly unknown[]>(
    command: Command,
    textOf: (commands: JobCommands, store: JobStore, ...given: T) => Promise<string>,
  ): void {
    command.action(async (...given) => {
      const commands = await import('./jobs-command.ts')
      const text = await commands.withStore(await settingsOf(command, undefined), (store) =>
        textOf(commands, store, ...(given as unknown as T)),
      )
      process.stdout.write(text)
    })
  }

  print(
    jobsCommand('list', 'Prints the latest jobs.', true)
      .addOption(countOption('--limit <number>', 'at most so many', 50))
      .option('--json', 'print JSON'),
    ({ listJobs }, store, flags: ListFlags) => listJobs(store, flags),
  )
  print(
    jobsCommand('show', 'Prints a job as JSON.').argument('ID', 'its id'),
    ({ showJob }, store, id: string) => showJob(store, id),
  )
  const jobActions: Readonly<Record<JobAction, string>> = {
    cancel: 'Ends a job, or jobs.',
    retry: 'Submits an ended job once more, or jobs that failed.',
    purge: 'Deletes the input, the result and the events of an ended job, or of jobs.',
  }
  for (const [action, help] of Object.entries(jobActions)) {
    print(
      jobsCommand(action, help, true).argument(
        '[ID]',
        'its id; without it, options say which jobs',
      ),
      ({ actOnJobs }, store, id: string | undefined, flags: JobsFlags) =>
        actOnJobs(store, action as JobAction, id, flags),
    )
  }
  print(
    jobsCommand('drain', 'Waits until no job is queued or running.')
      .option('--api <name>', 'jobs of this API only')
      .addOption(durationOption('--timeout <time>', 'then exit with 1')),
    ({ drainJobs }, store, flags: DrainFlags) => drainJobs(store, flags),
  )
  const pauses = {
    pause: 'Lets no worker take jobs of an API: those that run continue.',
    resume: 'Lets workers take jobs of an API again.',
  }
  for (const [action, help] of Object.entries(pauses)) {
    print(
      jobsCommand(action, `${help} Prints the state of its queue.`).argument('API', 'its name'),
      ({ pauseJobs }, store, api: string) => pauseJobs(store, api, action === 'pause'),
    )
  }
}
