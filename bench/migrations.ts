/**
 * Measures each kind of migration step on a table with many rows: `node bench/migrations.ts [rows] [rounds]`. Runs `storage apply` as a
 * separate process for one definition after the other. Prints the median duration of the transaction, from the migration history, and the
 * peak memory of the process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { median } from './statistics.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 3);

const FIRST = { name: '{ type: string }', size: '{ type: string }', code: '{ type: string }' };
const FILLED = { ...FIRST, note: '{ type: string }', state: '{ type: string, required: true, default: new }' };
const { note: _note, ...UNNOTED } = FILLED;
const RENAMED = { ...UNNOTED, remark: '{ type: string, renamedFrom: note }' };
const INDEXED = { ...RENAMED, name: '{ type: string, index: true }' };
const UNIQUE = { ...INDEXED, code: '{ type: string, unique: true }' };
const { remark: _remark, ...REMOVED } = UNIQUE;
const WIDENED = { ...UNIQUE, size: '{ type: text }' };

type Fields = Readonly<Record<string, string>>;

/** The steps in their order: name, fields, and the name of the resource. */
const WAY: readonly (readonly [string, Fields, string?])[] = [
  ['add a field', { ...FIRST, note: '{ type: string }' }],
  ['add a required field with a default', FILLED],
  ['rename a field', RENAMED],
  ['add an index', INDEXED],
  ['add a unique index', UNIQUE],
  ['remove a field', REMOVED],
  ['and bring it back', UNIQUE],
  ['widen a type', WIDENED],
  ['convert a type', { ...WIDENED, size: '{ type: integer }' }],
  ['and back', WIDENED],
  ['refuse a conversion', { ...WIDENED, name: '{ type: integer }' }],
  ['rename the resource', WIDENED, 'Thing'],
  ['nothing to do', WIDENED, 'Thing'],
];

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
const data = join(folder, 'data');
const measured = new Map(WAY.map(([name]) => [name, { times: [] as number[], peaks: [] as number[] }]));
mkdirSync(join(folder, 'resources'));
mkdirSync(data);
try {
  define(FIRST);
  await apply();
  populate();
  copyFileSync(join(data, 'bailiwick.db'), join(folder, 'populated.db'));
  for (let round = 0; round < ROUNDS; round++) await measureAll();
  const load = loadavg()[0]?.toFixed(1);
  process.stdout.write(`${ROWS} rows, median of ${ROUNDS}, load average ${load}\n`);
  for (const [name, { times, peaks }] of measured) {
    process.stdout.write(`${name.padEnd(36)} ${median(times).toFixed(0).padStart(6)} ms   ${median(peaks).toFixed(0).padStart(5)} MB\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll(): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(data, `bailiwick.db${suffix}`), { force: true });
  copyFileSync(join(folder, 'populated.db'), join(data, 'bailiwick.db'));
  for (const [name, fields, resource = 'Item'] of WAY) {
    define(fields, resource);
    const { time, peak } = await apply();
    measured.get(name)?.times.push(time);
    measured.get(name)?.peaks.push(peak);
  }
}

function define(fields: Fields, name = 'Item'): void {
  const lines = Object.entries(fields).map(([field, text]) => `  ${field}: ${text}\n`);
  const renamed = name === 'Item' ? '' : 'renamedFrom: Item\n';
  writeFileSync(join(folder, 'resources', 'Item.yaml'), `name: ${name}\n${renamed}fields:\n${lines.join('')}`);
}

/** Returns the duration of the transaction from the migration history; that of the whole process if nothing was migrated. */
async function apply(): Promise<{ readonly time: number; readonly peak: number }> {
  const before = evolutions().length;
  const from = performance.now();
  const child = spawn(process.execPath, ['src/main.ts', 'storage', 'apply', '--project', folder, '--data', data], { stdio: 'ignore' });
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakMb(child.pid));
  }, 10);
  await once(child, 'exit');
  clearInterval(timer);
  const wall = performance.now() - from;
  const after = evolutions();
  return { time: after.length > before ? (after.at(-1) ?? wall) : wall, peak };
}

function evolutions(): readonly number[] {
  const database = new Sqlite(join(data, 'bailiwick.db'));
  try {
    const isThere = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = '_Evolution'`).get() !== undefined;
    return isThere ? (database.prepare('SELECT durationMs FROM _Evolution ORDER BY at, id').pluck().all() as number[]) : [];
  } finally {
    database.close();
  }
}

function populate(): void {
  const database = new Sqlite(join(data, 'bailiwick.db'));
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO Item (id, version, createdAt, updatedAt, name, size, code)
    SELECT printf('018f4e6a-1c2b-7d3e-8f40-%012d', i), 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z',
      'name ' || (i % 1000), i, 'code ' || i FROM n`);
  database.close();
}

/** Returns the peak memory of a process; 0 on systems other than Linux. */
function peakMb(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
