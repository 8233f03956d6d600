/**
 * Concurrent requests, each of which is allowed alone. Together they would break a bound: a quota of records, or the separation of two duties.
 * Each race has records of its own; several races run at the same time.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createId } from '../../src/ids.ts';
import { handle } from '../../src/pipeline/handle.ts';
import { openPipeline, type TestPipeline, type TestRequest, type TestRule, toApiRequest } from '../../src/pipeline/pipeline.fixture.ts';
import { sql } from '../../src/sql.ts';
import { onPostgres, openTestDatabase, type TestDatabase } from '../../src/storage/storage.fixture.ts';
import { casesOf } from '../budget.ts';

const RACES = casesOf(500, { postgres: 150 });
/** Races at the same time. */
const TOGETHER = 8;
const QUOTA = 2;

const text = { type: 'string', index: true };
const DEFINITIONS = {
  Task: { fields: { project: text, title: { type: 'string' } } },
  Submission: { fields: { claim: text, by: { type: 'string' } } },
  Approval: { fields: { claim: text, by: { type: 'string' } } },
};
const withinQuota = (value: string) => ({ related: { resource: 'Task', as: 't', on: { project: value }, atMost: QUOTA - 1 } });
const hasNot = (resource: string) => ({
  related: { resource, as: 'o', on: { claim: '${resource.claim}', by: '${user.id}' }, atMost: 0 },
});
const RULES = [
  { resource: 'Task', action: 'create', conditions: [withinQuota('${resource.project}')] },
  { resource: 'Task', action: 'import', conditions: [withinQuota('${resource.project}')] },
  { resource: 'Task', action: 'update', conditions: [withinQuota('${request.data.project}')] },
  { resource: 'Submission', action: 'create', conditions: [hasNot('Approval')] },
  { resource: 'Approval', action: 'create', conditions: [hasNot('Submission')] },
] as unknown as readonly TestRule[];

let opened: TestDatabase | undefined;
let test: TestPipeline;
beforeAll(async () => {
  opened = onPostgres ? openTestDatabase() : undefined;
  // On SQLite, a busy machine must not end an attempt.
  const timeLimits = { short: 60_000, writer: 60_000 };
  test = await openPipeline({ definitions: DEFINITIONS, rules: RULES, timeLimits, ...(opened && { database: opened.database }) });
});
afterAll(async () => {
  await test.dispose();
  await opened?.dispose();
});

/** Sends requests at the same time. Returns the code of each refusal, and `done` for the others. */
function race(...requests: readonly TestRequest[]): Promise<readonly string[]> {
  return Promise.all(requests.map(send));
}

/** Sends a request, and sends it again while the database is busy with the others, as a client does. */
async function send(request: TestRequest): Promise<string> {
  for (;;) {
    const code = await codeOf(handle(test.deps, toApiRequest(request), test.originOf('ann')));
    if (code !== 'STORAGE_BUSY') return code;
  }
}

async function codeOf(answer: ReturnType<typeof handle>): Promise<string> {
  try {
    const outcome = await answer;
    return 'problem' in outcome ? outcome.problem.code : 'done';
  } catch (error) {
    return String((error as { readonly code?: string }).code ?? error);
  }
}

const create = (resource: string, data: TestRequest['data']): TestRequest => ({
  action: 'create',
  resource,
  ...(data !== undefined && { data }),
});

/** Runs all races. Returns those that did not come to the expected result. */
async function runRaces(run: (race: number) => Promise<string>, expected: readonly string[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let first = 0; first < RACES; first += TOGETHER) {
    const results = await Promise.all(Array.from({ length: Math.min(TOGETHER, RACES - first) }, (_, index) => run(first + index)));
    wrong.push(...results.filter((result) => !expected.includes(result)));
  }
  return wrong;
}

async function countOf(resource: string, where: Readonly<Record<string, string>>): Promise<number> {
  const [[name, value] = ['', '']] = Object.entries(where);
  const row = await test.deps.database.transaction((tx) =>
    tx.one<{ n: number }>(sql`SELECT count(*) AS "n" FROM ${sql.table(resource)} WHERE ${sql.ref(name)} = ${value}`),
  );
  return Number(row?.n);
}

describe('concurrent requests', () => {
  it('creates and moves use up a quota, and never exceed it', async () => {
    const wrong = await runRaces(
      async (number) => {
        const project = `of race ${number}`;
        const moved = createId();
        await test.store({ Task: { [moved]: { project: `before race ${number}` } } });
        const answers = await race(create('Task', { project }), create('Task', { project }), create('Task', { project }), {
          action: 'update',
          resource: 'Task',
          id: moved,
          data: { project },
        });
        return `${await countOf('Task', { project })} tasks after ${answers.toSorted().join(' ')}`;
      },
      ['2 tasks after ACCESS_DENIED ACCESS_DENIED done done'],
    );
    expect(wrong).toEqual([]);
  });

  it('imports of several records use up a quota, and never exceed it', async () => {
    const wrong = await runRaces(
      async (number) => {
        const project = `imported in race ${number}`;
        const importOf = (rows: number): TestRequest => ({ action: 'import', resource: 'Task', data: Array(rows).fill({ project }) });
        const answers = await race(importOf(QUOTA), importOf(QUOTA), importOf(QUOTA + 1));
        return `${await countOf('Task', { project })} tasks after ${answers.toSorted().join(' ')}`;
      },
      ['2 tasks after ACCESS_DENIED ACCESS_DENIED done'],
    );
    expect(wrong).toEqual([]);
  });

  it('no user both submits and approves a claim', async () => {
    const wrong = await runRaces(
      async (number) => {
        const data = { claim: `of race ${number}`, by: 'ann' };
        const answers = await race(create('Submission', data), create('Approval', data));
        const counts = [await countOf('Submission', data), await countOf('Approval', data)];
        return `${counts.toSorted().join(' ')} after ${answers.toSorted().join(' ')}`;
      },
      ['0 1 after ACCESS_DENIED done'],
    );
    expect(wrong).toEqual([]);
  });
});
