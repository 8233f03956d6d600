/** Lists that take longer than their time limit. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiRequest } from '../../request/index.ts';
import { sql } from '../../sql.ts';
import { handle } from '../handle.ts';
import { openPipeline, type TestPipeline, toApiRequest } from '../pipeline.fixture.ts';

let test: TestPipeline;
beforeAll(async () => {
  // More rows than between two deadline checks.
  const numbers = Array.from({ length: 600 }, (_, n) => n);
  test = await openPipeline({
    definitions: {
      Note: { fields: { title: { type: 'string' }, rank: { type: 'integer', index: true } } },
      Draft: { softDelete: true, fields: { title: { type: 'string' }, code: { type: 'string', unique: true } } },
    },
    records: {
      Note: Object.fromEntries(numbers.map((n) => [`n${n}`, { title: `note ${n}`, rank: n }])),
      Draft: Object.fromEntries(numbers.map((n) => [`d${n}`, { title: `draft ${n}`, code: `${n}` }])),
    },
    timeLimits: { short: 0, writer: 60_000 },
  });
});
afterAll(() => test.dispose());

/** Lists records by a field in a long attempt without time: 250 ms are added to the limit. */
function listBy(field: string, { action = 'list', resource = 'Note' }: Partial<ApiRequest> = {}): ReturnType<typeof handle> {
  const { deps } = test;
  const options = { ...deps.options, budget: { ...deps.options.budget, milliseconds: -250 } };
  const where = [{ field: 'title', operator: 'contains', value: 'absent' }];
  const request = toApiRequest({ action, resource, sort: [{ field, descending: false }], where });
  return handle({ ...deps, options }, request, test.originOf('ada'));
}

it('a list that takes too long names the index that it lacks', async () => {
  const outcome = await listBy('title');
  expect(outcome).toMatchObject({ problem: { code: 'REQUEST_BUDGET' } });
  const hint = 'add "index: true" to the field "title" in the definition of Note, or sort by a field with an index, such as id';
  expect('problem' in outcome && outcome.problem.extras.hint).toBe(hint);
});

it('a list in the order of an index ends early, and continues after its first rows', async () => {
  expect(await listBy('rank')).toMatchObject({
    result: { status: 200, data: [], extras: { nextCursor: expect.any(String), warnings: [expect.stringContaining('scanMilliseconds')] } },
  });
});

it('a list of deleted records in the order of a unique field, whose index leaves them out, names another order', async () => {
  expect(await listBy('code', { resource: 'Draft' })).toMatchObject({ result: { extras: { nextCursor: expect.any(String) } } });
  await test.deps.database.transaction((tx) => tx.run(sql`UPDATE "Draft" SET "deletedAt" = ${'2026-01-01T00:00:00.000Z'}`));
  const outcome = await listBy('code', { action: 'listDeleted', resource: 'Draft' });
  expect(outcome).toMatchObject({ problem: { code: 'REQUEST_BUDGET' } });
  const hint = 'sort by a field with an index, such as id';
  expect('problem' in outcome && outcome.problem.extras.hint).toBe(hint);
});
