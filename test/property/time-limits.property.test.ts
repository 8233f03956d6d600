/**
 * Requests whose time is up at a check of the time: each of them answers as without a limit, or fails, stores nothing, and has the failure in its
 * audit entries. The clock jumps once, which ends one attempt, at every later reading, which ends all of them, or at some.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/audit/index.ts';
import { handle } from '../../src/pipeline/index.ts';
import { toApiRequest } from '../../src/pipeline/pipeline.fixture.ts';
import { casesOf, isDeep } from '../budget.ts';
import { createJumpingClock, type Jumps, NO_JUMPS } from './jumping-clock.ts';
import {
  type Answer,
  openTimedPipeline,
  REQUESTS,
  type Stored,
  type TimedPipeline,
  type TimedRequest,
  withoutIds,
} from './timed-requests.ts';

/** The distances of jumps that each check of the time has in `npm run test:deep`. */
const INTERVALS = [Number.POSITIVE_INFINITY, 1, 11];
/** Random jumps of each request. */
const CASES = casesOf(8, { postgres: 4 });

const clock = createJumpingClock();
let test: TimedPipeline;
let before: Stored;
let runs = 0;

beforeAll(async () => {
  test = await openTimedPipeline();
  before = await test.load();
});
afterAll(() => test.dispose());
beforeEach(() => clock.install());

/** The answers of a run, the rows after it, and its audit entries. */
interface Done {
  readonly answers: readonly Answer[];
  readonly stored: Stored;
  readonly entries: readonly AuditEntry[];
  readonly readings: number;
}

it.each(REQUESTS)('$name whose time is up at any check succeeds as a whole, or fails and changes nothing', async (request) => {
  const clean = await runAt(request, NO_JUMPS);
  for (const { problem } of clean.answers) expect(['RECORD_REFERENCED', undefined]).toContain(problem?.code);
  const check = async (jumps: Jumps): Promise<void> => {
    const done = await runAt(request, jumps);
    await expectOutcome(request, { clean, done });
    if (!done.answers.some(({ problem }) => problem?.code === 'REQUEST_BUDGET')) return;
    // The connection of the failed request is left as it was.
    expectSame(await runAt(request, NO_JUMPS), clean);
  };
  if (isDeep) for (let first = 1; first <= clean.readings; first++) for (const interval of INTERVALS) await check({ first, interval });
  const first = fc.integer({ min: 1, max: clean.readings });
  const interval = fc.oneof(fc.constantFrom(...INTERVALS), fc.integer({ min: 2, max: clean.readings }));
  await fc.assert(fc.asyncProperty(fc.record({ first, interval }), check), { numRuns: CASES });
});

/** Runs a request while the clock jumps, and resets the records. */
async function runAt(request: TimedRequest, jumps: Jumps): Promise<Done> {
  const requestId = `run ${++runs}`;
  clock.jumpAt(jumps);
  const answers = await request.run(test.deps, test.originOf(requestId));
  const { readings } = clock;
  clock.rest();
  const [stored, entries] = [await test.load(), await test.entriesOf(requestId)];
  const done = { answers: await Promise.all(answers.map((answer) => withAllPages(request, answer))), stored, entries, readings };
  await test.reset();
  return done;
}

/** Adds the ids of the next pages of a list, which are loaded without a jump. */
async function withAllPages({ list }: TimedRequest, answer: Answer): Promise<Answer> {
  if (list === undefined || answer.ids === undefined) return answer;
  const ids = [...answer.ids];
  for (let cursor = answer.next; cursor !== undefined; ) {
    const outcome = await handle(test.deps, toApiRequest({ ...list, total: false, cursor }), test.originOf('next page'));
    if ('problem' in outcome) throw outcome.problem;
    ids.push(...(outcome.result.data as readonly { readonly id: string }[]).map(({ id }) => id));
    cursor = outcome.result.extras?.['nextCursor'] as string | undefined;
  }
  return { ...answer, shown: ids.join(' ') };
}

function expectSame(done: Done, clean: Done): void {
  expect(done.answers.map(withoutCursor)).toEqual(clean.answers.map(withoutCursor));
  expect(done.stored).toEqual(clean.stored);
  expect(done.entries.map(inShort)).toEqual(clean.entries.map(inShort));
}

/** Returns the decision without the record and the reason: a search that fails has found no record. */
const decisionOf = ({ action, resource, allowed }: AuditEntry): string => `${allowed ? 'allow' : 'deny'} ${action} ${resource}`;

const withoutCursor = ({ next, problem, ...answer }: Answer): unknown => ({ ...answer, code: problem?.code, hasNext: next !== undefined });
const inShort = ({ action, resource, recordId, allowed, reason, outcome }: AuditEntry): string =>
  withoutIds(JSON.stringify({ action, resource, recordId, allowed, reason, outcome }));

/** A part of a request, and what it returned, stored and recorded, without and with a jump. */
interface Part {
  readonly clean: Done;
  readonly done: Done;
}

async function expectOutcome(request: TimedRequest, { clean, done }: Part): Promise<void> {
  const { parts } = request;
  if (parts === undefined || done.answers.length !== parts.length) return expectPart(request, { clean, done });
  for (const [index, resource] of parts.entries())
    expectPart(request, { clean: partOf(clean, index, resource), done: partOf(done, index, resource) });
}

function partOf({ answers, stored, entries, readings }: Done, index: number, resource: string): Done {
  return {
    answers: answers.slice(index, index + 1),
    stored: { [resource]: stored[resource] ?? [] },
    entries: entries.filter((entry) => entry.resource === resource),
    readings,
  };
}

function expectPart(request: TimedRequest, { clean, done }: Part): void {
  const [answer] = done.answers as [Answer];
  const [expected] = clean.answers as [Answer];
  const code = answer.problem?.code;
  if (code === expected.problem?.code) {
    expectAnswer(answer, expected);
    expect(done.stored).toEqual(clean.stored);
    expect(done.entries.map(inShort)).toEqual(clean.entries.map(inShort));
    return;
  }
  expect(['REQUEST_BUDGET', 'STORAGE_BUSY']).toContain(code);
  expectStored(answer, done);
  expectFailedEntries(request, answer, { clean, done });
}

/** Expects the answer without a jump; a list may end early, and its next pages have the rest. */
function expectAnswer(answer: Answer, expected: Answer): void {
  const { ids = [], total, warnings = [], next } = answer;
  expect(answer.shown).toBe(expected.shown);
  if (ids.length < (expected.ids?.length ?? 0)) expect(next).toBeDefined();
  if (next !== undefined && expected.next === undefined) expect(warnings.join()).toContain('the page ends early');
  if (total !== undefined) expect(total).toBe(expected.total);
  else if (expected.total !== undefined) expect(warnings.join()).toContain('total is not available');
}

/** Expects that a failed request has changed nothing. An import that is not atomic keeps the rows that it has counted. */
function expectStored({ problem }: Answer, { stored }: Done): void {
  const { imported = 0 } = (problem?.extras.data ?? {}) as { readonly imported?: number };
  for (const [table, rows] of Object.entries(stored)) {
    const added = table === 'Article' ? imported : 0;
    const old = rows.filter((row) => added === 0 || !row.includes('imported'));
    expect(old).toEqual(before[table]);
    expect(rows).toHaveLength(old.length + added);
  }
}

/** Expects an entry of each decision that was made, with the failure, and no other one. */
function expectFailedEntries({ others = [] }: TimedRequest, { problem }: Answer, { clean, done }: Part): void {
  const decisionId = problem?.extras.decisionId;
  // If the time was up before a decision, only the rows or requests before it have entries.
  if (decisionId === undefined) expect(done.entries.filter(({ outcome }) => !others.includes(outcome))).toEqual([]);
  else expect(done.entries.find(({ id }) => id === decisionId)?.outcome).toBe(problem?.code);
  const left = clean.entries.map(decisionOf);
  // The page of an export that fails has an entry too.
  if (others.includes(undefined)) left.push(left.at(-1) ?? '');
  for (const entry of done.entries) {
    const index = left.indexOf(decisionOf(entry));
    expect(index, decisionOf(entry)).toBeGreaterThanOrEqual(0);
    left.splice(index, 1);
    if (entry.allowed) expect([problem?.code, ...others]).toContain(entry.outcome);
  }
}
