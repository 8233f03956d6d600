/** Checks of the state in which a power cut left the data folder: a service starts with it, and nothing that was answered is lost. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { parseConfig } from '../../src/config/config.ts';
import { verifyData } from '../../src/project/index.ts';
import { createService } from '../../src/service.ts';
import type { Answered, Refusal } from './load.ts';

/** The files that a power cut left, and the requests that were answered before. */
export interface DiskState {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly answered: readonly Answered[];
}

/** Refused requests that are sent in each state: the last ones, which the cut may have undone. */
const REFUSALS = 3;

/** Conditions that hold in every state: no change without its entry, and no part of a change. */
const INVARIANTS: Readonly<Record<string, string>> = {
  'a comment has its article': `SELECT count(*) = 0 FROM Comment WHERE articleId NOT IN (SELECT id FROM Article)`,
  'an article is created or deleted if and only if there is an entry': `SELECT (SELECT count(*) FROM Article) =
    sum(iif(action = 'create', 1, -1)) FROM _Decision WHERE resource = 'Article' AND action IN ('create', 'delete') AND allowed = 1 AND outcome IS NULL`,
  'a note is imported if and only if there is an entry': `SELECT (SELECT count(*) FROM Note) =
    (SELECT count(*) FROM _Decision WHERE resource = 'Note' AND action = 'import' AND allowed = 1 AND outcome IS NULL)`,
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
export async function findFaults(folder: string, project: string, { files, answered }: DiskState): Promise<readonly string[]> {
  const data = mkdtempSync(join(folder, 'state-'));
  try {
    mkdirSync(data, { recursive: true });
    for (const [path, content] of files) writeFileSync(join(data, path), content);
    const config = parseConfig({ flags: { project, data, port: 0, logLevel: 'silent', denialWindowSeconds: 1 }, env: {} });
    const refused = answered.flatMap(({ refusals }) => refusals).slice(-REFUSALS);
    const faults = await serve(config, refused);
    const { isWhole, ...verified } = await verifyData(config);
    return [...faults, ...(isWhole ? [] : [`not whole: ${JSON.stringify(verified)}`]), ...findLost(join(data, 'bailiwick.db'), answered)];
  } catch (error) {
    return [String(error)];
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Starts a service with the state; returns the requests that it does not refuse. */
async function serve(config: ReturnType<typeof parseConfig>, refused: readonly Refusal[]): Promise<readonly string[]> {
  const service = await createService(config);
  const faults: string[] = [];
  try {
    const { url } = await service.listen();
    const ready = await fetch(`${url}/readyz`);
    if (ready.status !== 200) faults.push(`/readyz: ${ready.status} ${await ready.text()}`);
    for (const { token, path, status } of refused) {
      const reply = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      if (reply.status !== status) faults.push(`${path} after the revocation: ${reply.status} ${await reply.text()}`);
    }
  } finally {
    await service.close();
  }
  return faults;
}

/** Returns the changes and entries that are lost or incomplete. */
function findLost(path: string, answered: readonly Answered[]): readonly string[] {
  const database = new Sqlite(path, { readonly: true });
  const one = (sql: string, ...values: readonly unknown[]): unknown => database.prepare(sql).pluck().get(values);
  try {
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
  } finally {
    database.close();
  }
}
