/** Measures the size of the database and the free space of its volume, before the disk is full. */
import { promises, statSync } from 'node:fs';
import { sql } from '../sql.ts';
import type { Database, Log } from '../storage/index.ts';
import { databasePath } from './project-database.ts';

/** Thresholds of free bytes on the volume of a SQLite database, or up to the maximum size of a database on PostgreSQL; 0 disables one. */
export interface DiskLimits {
  /** Below this, a warning is logged. */
  readonly warnBytes: number;
  /** Below this, the service is not ready. */
  readonly minBytes: number;
  /** Maximum bytes of a database on PostgreSQL, whose server cannot tell the free space of its disk; 0 if it has none. */
  readonly maxBytes?: number;
}

/** The options of the measurement. */
export interface DiskSpaceOptions extends DiskLimits {
  /** The address of the database. */
  readonly address: string;
  readonly database: Database;
  /** True if the size of a database on PostgreSQL is measured although it has no maximum: for metrics. */
  readonly measuresSize: boolean;
  readonly log?: Log | undefined;
  /** Milliseconds between two measurements; 5000 if absent. */
  readonly everyMs?: number;
}

/** The last measurement. Figures are undefined before the first, and if they cannot be measured. */
export interface DiskSpace {
  /** Free bytes of the volume of a SQLite database, or up to the maximum size on PostgreSQL; undefined there without one. */
  readonly freeBytes: number | undefined;
  /** Bytes of the database: with the write-ahead log on SQLite, as `pg_database_size` counts on PostgreSQL. */
  readonly databaseBytes: number | undefined;
  /** The reason why the service is not ready; undefined if enough bytes are free. `/readyz` shows it. */
  readonly fault: string | undefined;
  /** Measures now, and from then on in intervals. Never throws: a failure is logged, once until a measurement succeeds. */
  start(): Promise<void>;
  close(): void;
}

type Figures = Pick<DiskSpace, 'freeBytes' | 'databaseBytes'>;
type Level = 'enough' | 'low' | 'full';

const EVERY_MS = 5000;
/** The size of a large database on PostgreSQL takes its server many system calls. */
const EVERY_MS_ON_SERVER = 60_000;

/** A level is left only when this factor of its threshold is free, so that it does not change with every checkpoint of the write-ahead log. */
const HYSTERESIS = 1.1;

/** Creates the measurement; `start` begins it. */
export function createDiskSpace({
  address,
  database,
  measuresSize,
  log = () => undefined,
  everyMs,
  ...limits
}: DiskSpaceOptions): DiskSpace {
  const path = address.startsWith('sqlite:') ? databasePath(address) : undefined;
  const { maxBytes = 0 } = limits;
  const isMeasured = path === undefined ? measuresSize || maxBytes > 0 : path !== ':memory:';
  const interval = everyMs ?? (path === undefined ? EVERY_MS_ON_SERVER : EVERY_MS);
  const level = createLevel({ path, limits, log });
  let figures: Figures = NOTHING;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    try {
      figures = path === undefined ? await measureServer(database, maxBytes) : await measureVolume(path);
      hasFailed = false;
    } catch (error) {
      figures = NOTHING;
      if (!hasFailed) log(describeFailure(error));
      hasFailed = true;
    }
    if (figures.freeBytes !== undefined) level.update(figures.freeBytes);
    if (!isClosed) timer = setTimeout(run, interval).unref();
  }

  return {
    get freeBytes() {
      return figures.freeBytes;
    },
    get databaseBytes() {
      return figures.databaseBytes;
    },
    get fault() {
      if (!level.isFull) return undefined;
      return path === undefined ? 'the database has almost reached its maximum size' : 'the disk of the database is almost full';
    },
    start: () => (isMeasured ? run() : Promise.resolve()),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

interface LevelOptions {
  readonly path: string | undefined;
  readonly limits: DiskLimits;
  readonly log: Log;
}

/** Compares measurements with the thresholds, and logs each change of the level. */
function createLevel({ path, limits, log }: LevelOptions): { update(freeBytes: number): void; readonly isFull: boolean } {
  let level: Level = 'enough';
  return {
    update(freeBytes) {
      const next = toLevel(freeBytes, level, limits);
      if (next !== level) log(describeLevel(next, { path, limits, freeBytes }));
      level = next;
    },
    get isFull() {
      return level === 'full';
    },
  };
}

const NOTHING: Figures = { freeBytes: undefined, databaseBytes: undefined };

async function measureVolume(path: string): Promise<Figures> {
  const { bavail, bsize } = await promises.statfs(path);
  const bytes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  return { freeBytes: bavail * bsize, databaseBytes: bytes.reduce((sum, each) => sum + each, 0) };
}

async function measureServer(database: Database, maxBytes: number): Promise<Figures> {
  const row = await database.transaction((tx) => tx.one<{ bytes: string }>(sql`select pg_database_size(current_database()) as "bytes"`));
  const databaseBytes = Number(row?.bytes);
  return { freeBytes: maxBytes === 0 ? undefined : Math.max(0, maxBytes - databaseBytes), databaseBytes };
}

function toLevel(freeBytes: number, level: Level, { warnBytes, minBytes }: DiskLimits): Level {
  if (freeBytes < minBytes * (level === 'full' ? HYSTERESIS : 1)) return 'full';
  return freeBytes < warnBytes * (level === 'enough' ? 1 : HYSTERESIS) ? 'low' : 'enough';
}

interface Measured {
  readonly path: string | undefined;
  readonly limits: DiskLimits;
  readonly freeBytes: number;
}

function describeLevel(level: Level, { path, limits, freeBytes }: Measured): string {
  const onServer = path === undefined;
  const free = `${toMebibytes(freeBytes)} MiB are free ${onServer ? 'up to the maximum size of the database (databaseMaxBytes)' : `on the disk of ${path}`}`;
  if (level === 'enough') return `${free}: enough again`;
  const advice = onServer
    ? 'prune the audit log, delete records, or enlarge the disk of the server and databaseMaxBytes'
    : 'free space, prune the audit log, or move the data to a larger disk';
  if (level === 'low') return `warning: only ${free}, less than diskWarnBytes (${toMebibytes(limits.warnBytes)} MiB); ${advice}`;
  return `error: only ${free}, less than diskMinBytes (${toMebibytes(limits.minBytes)} MiB): /readyz fails; ${advice}`;
}

function describeFailure(error: unknown): string {
  return `cannot measure the space of the database: ${error instanceof Error ? error.message : String(error)}`;
}

function toMebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
