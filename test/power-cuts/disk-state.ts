/** Checks of the state in which a power cut left the data folder: a service starts with it, and nothing that was answered is lost. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Config, parseConfig } from '../../src/config/config.ts';
import { verifyData } from '../../src/project/index.ts';
import { createService } from '../../src/service.ts';
import type { Answered, Promised } from './load-client.ts';

/** The files that a power cut left, and the requests that were answered before. */
export interface DiskState {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly answered: readonly Answered[];
  /** Does what the operator has to do if the verification finds damage in this state; absent if it must find none. */
  readonly repair?: ((root: string, config: Config) => Promise<unknown>) | undefined;
}

/** Requests with a promised status that are sent in each state: the last ones, which the cut may have undone. */
const PROMISES = 3;

/** Conditions that hold in every state: no change without its entry, and no part of a change. */
const INVARIANTS: Readonly<Record<string, string>> = {
  'a comment has its article': `SELECT count(*) = 0 FROM Comment WHERE articleId NOT IN (SELECT id FROM Article)`,
  'an article is created or deleted if and only if there is an entry': `SELECT (SELECT count(*) FROM Article) =
    sum(iif(action = 'create', 1, -1)) FROM _Decision WHERE resource = 'Article' AND action IN ('create', 'delete') AND allowed = 1 AND outcome IS NULL`,
  'a note is imported if and only if there is an entry': `SELECT (SELECT count(*) FROM Note) =
    (SELECT count(*) FROM _Decision WHERE resource = 'Note' AND action = 'import' AND allowed = 1 AND outcome IS NULL)`,
  'an article has the title of its version': `SELECT count(*) = 0 FROM Article WHERE title LIKE 'Updated %' AND title <> 'Updated ' || version`,
  'an atomic batch is complete': `SELECT count(*) = 0 FROM Article AS article WHERE title LIKE 'Batch %'
    AND (SELECT count(*) FROM Comment WHERE articleId = article.id) <> 2`,
  'a card has no tag that was deleted': `SELECT count(*) = 0 FROM Card, json_each(Card.tagIds) WHERE value NOT IN (SELECT id FROM Tag)`,
  'all items are migrated or none': `SELECT (SELECT count(*) FROM Item WHERE typeof(size) = 'integer') =
    iif((SELECT count(*) FROM _Evolution WHERE actor = 'cli' AND steps LIKE '%"Item"%'), 2, 0)`,
  'a session begins if and only if there is an entry': `SELECT (SELECT count(*) FROM _Session) =
    (SELECT count(*) FROM _Decision WHERE kind = 'auth' AND action = 'login' AND allowed = 1)`,
  'a password is changed with both of its entries': `SELECT
    (SELECT count(*) FROM _Decision WHERE kind = 'auth' AND action = 'password' AND allowed = 1) =
    (SELECT count(*) FROM _Decision WHERE kind = 'access' AND resource = 'User' AND action = 'update' AND allowed = 1)`,
  'a batch of assignments is complete': `SELECT count(*) = 0 FROM
    (SELECT count(*) AS number FROM _UserPolicy GROUP BY policyId) WHERE number NOT IN (0, 3)`,
  'a policy has the description of its last version': `SELECT count(*) = 0 FROM _Policy AS policy WHERE name LIKE 'Rolled back %' AND description <>
    iif((SELECT count(*) FROM _PolicyHistory WHERE kind = 'policy' AND subjectId = policy.id) = 2, 'second', 'first')`,
};

/** Returns what is wrong with a state; nothing if it is as it must be. */
export async function findFaults(folder: string, project: string, { files, answered, repair }: DiskState): Promise<readonly string[]> {
  const root = mkdtempSync(join(folder, 'state-'));
  const data = join(root, 'data');
  try {
    for (const [path, content] of files) writeInto(root, path, content);
    const config = parseConfig({ flags: { project, data, port: 0, logLevel: 'silent', denialWindowSeconds: 1 }, env: {} });
    const faults = await serve(config, selectPromises(answered));
    if (repair !== undefined && !(await verifyData(config)).isWhole) await repair(root, config);
    const { isWhole, ...verified } = await verifyData(config);
    const lost = withDatabase(join(data, 'bailiwick.db'), (database) => findLost(database, answered));
    const backups = withDatabase(join(data, 'bailiwick.db'), namedBackups);
    const missing = [...backups, ...answered.flatMap((answer) => answer.backups)].filter((path) => !existsSync(join(root, path)));
    return [
      ...faults,
      ...(isWhole ? [] : [`not whole: ${JSON.stringify(verified)}`]),
      ...lost,
      ...missing.map((path) => `the backup ${path} is lost`),
      ...[...files.keys()].filter((path) => BACKUP.test(path) && !isWholeFile(join(root, path))).map((path) => `${path} is incomplete`),
    ];
  } catch (error) {
    return [String(error)];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Writes a file and the folders that its path leads through. */
export function writeInto(root: string, path: string, content: Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Returns the files of a disk. The index of the write-ahead log is memory that processes share, and is left out. */
export function readDisk(root: string): ReadonlyMap<string, Buffer> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((each) => each.isFile() && !each.name.endsWith('-shm'));
  return new Map(found.map(({ parentPath, name }) => [relative(root, join(parentPath, name)), readFileSync(join(parentPath, name))]));
}

/** The last promises, and those about tokens that are still valid. */
function selectPromises(answered: readonly Answered[]): readonly Promised[] {
  const all = answered.flatMap(({ promises }) => promises);
  return [...all.filter(({ status }) => status === 200), ...all.filter(({ status }) => status !== 200).slice(-PROMISES)];
}

/** The names of complete backups. */
const BACKUP = /^(data\/backups\/)?[^/]+\.db$/;
const NAMED_BACKUP = /a backup was written first: (\S+\.db)/g;

/** Returns the backups that the history of migrations names. */
function namedBackups(database: Sqlite.Database): readonly string[] {
  const steps = database.prepare<[], string>('SELECT steps FROM _Evolution').pluck().all().join('\n');
  return [...steps.matchAll(NAMED_BACKUP)].map(([, name]) => `data/backups/${name}`);
}

function isWholeFile(path: string): boolean {
  return withDatabase(path, (database) => {
    try {
      return database.pragma('integrity_check', { simple: true }) === 'ok';
    } catch {
      return false;
    }
  });
}

function withDatabase<T>(path: string, read: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(path, { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Starts a service with the state; returns the requests whose status is not the promised one. */
async function serve(config: Config, promises: readonly Promised[]): Promise<readonly string[]> {
  const service = await createService(config);
  const faults: string[] = [];
  try {
    const { url } = await service.listen();
    const ready = await fetch(`${url}/readyz`);
    if (ready.status !== 200) faults.push(`/readyz: ${ready.status} ${await ready.text()}`);
    for (const { token, path, status } of promises) {
      const reply = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      if (reply.status !== status) faults.push(`${path}: expected ${status}, given ${reply.status} ${await reply.text()}`);
    }
  } finally {
    await service.close();
  }
  return faults;
}

/** Returns the changes and entries that are lost or incomplete. */
function findLost(database: Sqlite.Database, answered: readonly Answered[]): readonly string[] {
  const one = (sql: string, ...values: readonly unknown[]): unknown => database.prepare(sql).pluck().get(values);
  const entries = new Set(database.prepare('SELECT id FROM _Decision').pluck().all());
  const withoutEntry = answered.filter(({ decisionId }) => decisionId !== null && !entries.has(decisionId));
  const facts = answered.flatMap((answer) => answer.facts).filter(({ sql, values }) => one(sql, ...values) !== 1);
  const broken = Object.keys(INVARIANTS).filter((name) => one(INVARIANTS[name] ?? '') === 0);
  const denials = answered.filter(({ isRepeated }) => isRepeated).length;
  const recorded = Number(
    one(`SELECT (SELECT count(*) FROM _Decision WHERE kind = 'access' AND userId IS NULL AND allowed = 0)
      + (SELECT coalesce(sum(facts ->> 'count'), 0) FROM _Decision WHERE kind = 'repeat')
      + (SELECT coalesce(sum(count), 0) FROM _RepeatedDenial)`),
  );
  return [
    ...withoutEntry.map(({ decisionId }) => `the entry ${decisionId} of an answered request is lost`),
    ...facts.map(({ sql, values }) => `lost after the answer: ${sql} ${values}`),
    ...broken.map((name) => `not true: ${name}`),
    ...(recorded < denials ? [`${denials} denials were answered, ${recorded} are recorded`] : []),
  ];
}
