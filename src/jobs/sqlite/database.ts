/** The file of the embedded job store: Node's own SQLite, which this file alone loads, and the schema. @module */
import { closeSync, openSync } from 'node:fs'
import { InvalidArgument } from '../../core/errors.ts'

/** What a column holds. */
export type SqlValue = null | number | string | Uint8Array

/** Columns by their names. */
export type Row = Readonly<Record<string, SqlValue>>

/** A prepared statement of node:sqlite, of which the oldest Node that we run on has no types. */
export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number }
  get(...values: SqlValue[]): Row | undefined
  all(...values: SqlValue[]): Row[]
  /** Reads row by row. */
  iterate(...values: SqlValue[]): Iterable<Row>
}

/** A connection. It blocks: threads of their own use it. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

/**
 * `jobs.due_at` is when the state next ends by time: the backoff of a queued job, the life of a result, the memory of
 * an expired job, and the lease of a running one, by the clock of leases. `lease` counts each start, and is the fence
 * of its end; `attempt` leaves out those that were handed back. Triggers keep what follows from a status: its event,
 * the counts, deletions.
 */
const firstSchema = `
CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, api TEXT NOT NULL, owner TEXT, details TEXT NOT NULL,
  idempotency_key TEXT, fingerprint TEXT NOT NULL, priority INTEGER NOT NULL, created_at INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued', due_at INTEGER NOT NULL DEFAULT 0, worker TEXT,
  lease INTEGER NOT NULL DEFAULT 0, attempt INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0, is_cancel_requested INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER, finished_at INTEGER, progress TEXT, response_status INTEGER
);
CREATE INDEX waiting ON jobs (api, priority DESC, seq) WHERE status = 'queued';
CREATE INDEX due ON jobs (status, due_at);
CREATE UNIQUE INDEX keys ON jobs (api, ifnull(owner, ''), idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE TABLE requests (job INTEGER PRIMARY KEY, headers TEXT, query TEXT, state TEXT, body BLOB, blob TEXT);
CREATE TABLE responses (job INTEGER PRIMARY KEY, headers TEXT, body BLOB, blob TEXT);
CREATE TABLE events (
  job INTEGER, sequence INTEGER, at INTEGER, kind TEXT, data TEXT, PRIMARY KEY (job, sequence)
) WITHOUT ROWID;
CREATE TABLE counts (api TEXT, status TEXT, jobs INTEGER, PRIMARY KEY (api, status)) WITHOUT ROWID;

CREATE TRIGGER added AFTER INSERT ON jobs BEGIN
  INSERT INTO counts VALUES (NEW.api, NEW.status, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
  INSERT INTO events VALUES (NEW.seq, 1, NEW.created_at, 'status', NEW.status);
END;
CREATE TRIGGER changed AFTER UPDATE OF status ON jobs WHEN NEW.status <> OLD.status BEGIN
  UPDATE counts SET jobs = jobs - 1 WHERE api = OLD.api AND status = OLD.status;
  INSERT INTO counts VALUES (NEW.api, NEW.status, 1) ON CONFLICT DO UPDATE SET jobs = jobs + 1;
  INSERT INTO events
    SELECT NEW.seq, max(sequence) + 1, CAST(unixepoch('subsec') * 1000 AS INTEGER), 'status', NEW.status
    FROM events WHERE job = NEW.seq;
END;
CREATE TRIGGER expired AFTER UPDATE OF status ON jobs WHEN NEW.status = 'expired' BEGIN
  DELETE FROM requests WHERE job = NEW.seq;
  DELETE FROM responses WHERE job = NEW.seq;
  DELETE FROM events WHERE job = NEW.seq AND kind <> 'status';
END;
CREATE TRIGGER forgotten AFTER DELETE ON jobs BEGIN
  UPDATE counts SET jobs = jobs - 1 WHERE api = OLD.api AND status = OLD.status;
  DELETE FROM events WHERE job = OLD.seq;
END;
`

/** An input is apart from the job that brought it: each retry names it, and it goes with the last one. */
const namedInputs = `
CREATE TABLE inputs (id INTEGER PRIMARY KEY, headers TEXT, query TEXT, body BLOB, blob TEXT);
CREATE INDEX input_blobs ON inputs (blob) WHERE blob IS NOT NULL;
INSERT INTO inputs SELECT job, headers, query, body, blob FROM requests;
ALTER TABLE requests ADD COLUMN input INTEGER;
UPDATE requests SET input = job;
ALTER TABLE requests DROP COLUMN headers;
ALTER TABLE requests DROP COLUMN query;
ALTER TABLE requests DROP COLUMN body;
ALTER TABLE requests DROP COLUMN blob;
CREATE INDEX named ON requests (input);
CREATE TRIGGER unnamed AFTER DELETE ON requests WHEN NOT EXISTS (SELECT 1 FROM requests WHERE input = OLD.input) BEGIN
  DELETE FROM inputs WHERE id = OLD.input;
END;
`

/** `late_at` is when a queued job has waited for too long; NULL for one that may wait without end. */
const lateJobs = `
ALTER TABLE jobs ADD COLUMN late_at INTEGER;
CREATE INDEX late ON jobs (late_at) WHERE status = 'queued';
CREATE TRIGGER waits_again AFTER UPDATE OF status ON jobs WHEN NEW.status = 'queued' BEGIN
  UPDATE jobs SET late_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + json_extract(details, '$.queueTtlMs')
  WHERE seq = NEW.seq;
END;
`

/** For lists of the jobs of a caller. */
const ownedJobs = 'CREATE INDEX owned ON jobs (owner, seq) WHERE owner IS NOT NULL'

/** For the number of jobs of a caller that wait or run. */
const openJobs = `
CREATE INDEX open ON jobs (owner, api) WHERE owner IS NOT NULL AND status IN ('queued', 'running')`

const pausedApis = 'CREATE TABLE paused (api TEXT PRIMARY KEY) WITHOUT ROWID'

/** Only jobs of APIs with a quota are in the index, since each change of a status writes it. */
const quotas = `
ALTER TABLE jobs ADD COLUMN has_quota INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET has_quota = 1 WHERE status IN ('queued', 'running');
DROP INDEX open;
CREATE INDEX open ON jobs (owner, api) WHERE has_quota = 1 AND owner IS NOT NULL AND status IN ('queued', 'running');
`

/** What attempts keep of jobs of rows, a row for each write. The first one of a job has the names of its blobs. */
const keptRows = `
CREATE TABLE kept (number INTEGER PRIMARY KEY, job INTEGER, body BLOB, blobs TEXT);
CREATE INDEX kept_of ON kept (job);
CREATE TRIGGER unkept AFTER UPDATE OF status ON jobs WHEN NEW.status = 'expired' BEGIN
  DELETE FROM kept WHERE job = NEW.seq;
END;
`

/**
 * The index has all that tells which jobs start next: the others are not read or sorted. It also does for the few looks
 * at what waits too long, which an index of their own would make dearer for each job.
 */
const nextJobs = `
DROP INDEX late;
DROP INDEX waiting;
CREATE INDEX waiting ON jobs (api, priority DESC, seq, due_at, late_at) WHERE status = 'queued';
`

/** What makes a file of the next version of one of the version before. A new file gets all of them. */
const schemas = [
  firstSchema,
  namedInputs,
  lateJobs,
  ownedJobs,
  openJobs,
  pausedApis,
  quotas,
  keptRows,
  nextJobs,
]
const version = schemas.length

/**
 * Opens the file, or makes it.
 *
 * @throws InvalidArgument for a file of a later version; those of SQLite.
 */
export function openDatabase(path: string): Database {
  const sqlite = process.getBuiltinModule('node:sqlite') as unknown as {
    readonly DatabaseSync: new (path: string) => Database
  }
  // SQLite would let all users read the file; those beside it get its mode.
  closeSync(openSync(path, 'a', 0o600))
  const database = new sqlite.DatabaseSync(path)
  // The first, since the others wait for locks, too; shorter than a lease. FULL: a commit outlives a loss of power.
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const [damage] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})
  if (damage !== 'ok') throw new InvalidArgument(`it is damaged, restore it from a copy: ${damage}`)
  transaction(database, () => {
    const found = database.prepare('PRAGMA user_version').get()?.user_version as number
    if (found > version) {
      const text = `the job store ${path} has version ${found}, this release reads up to ${version}`
      throw new InvalidArgument(`${text}: use the release that wrote it, or another file`)
    }
    for (const schema of schemas.slice(found)) database.exec(schema)
    if (found < version) database.exec(`PRAGMA user_version = ${version}`)
  })
  return database
}

/** Runs `change` in one transaction. A deferred one would fail at its first write if another process has written. */
export function transaction<T>(database: Database, change: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = change()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // After some failures SQLite has rolled back already.
    try {
      database.exec('ROLLBACK')
    } catch {}
    throw error
  }
}

/**
 * Runs transactions that outlive the process, and perhaps no loss of power.
 *
 * @see sqlite.org/pragma.html.
 */
export function withoutSync<T>(database: Database, change: () => T): T {
  database.exec('PRAGMA synchronous = NORMAL')
  try {
    return change()
  } finally {
    database.exec('PRAGMA synchronous = FULL')
  }
}
