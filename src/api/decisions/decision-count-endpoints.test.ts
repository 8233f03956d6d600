import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../audit/index.ts';
import { codeOf } from '../../pipeline/pipeline.fixture.ts';
import { appendEntries, createdPolicy, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';

const T0 = Date.UTC(2026, 0, 31, 9);
const HOUR = 3_600_000;

let admin: TestAdmin;
let policyId: string;

beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
  policyId = await createdPolicy(admin, 'Readers');
  const at = (hours: number): Partial<AuditEntry> => ({ at: new Date(T0 + hours * HOUR).toISOString(), userId: 'ann', policyId });
  await appendEntries(admin, [
    { ...at(0), allowed: true },
    { ...at(0.5), allowed: true, action: 'list' },
    { ...at(1), ip: '192.0.2.2' },
  ]);
});
afterAll(() => admin.pipeline.dispose());

const PERIOD = 'from=2026-01-31T09:00:00Z&to=2026-01-31T11:00:00Z';

describe('admin.decisions.histogram', () => {
  it('counts allowed and denied requests in buckets of a rounded length', async () => {
    expect(await admin.bodyOf('admin.decisions.histogram', { query: `${PERIOD}&buckets=2` })).toEqual({
      success: true,
      data: {
        step: 3600,
        buckets: [
          { at: '2026-01-31T09:00:00.000Z', allowed: 2, denied: 0 },
          { at: '2026-01-31T10:00:00.000Z', allowed: 0, denied: 1 },
        ],
      },
    });
  });

  it('counts the entries that the filters match', async () => {
    const { data } = await admin.bodyOf<{ data: { buckets: readonly object[] } }>('admin.decisions.histogram', {
      query: `${PERIOD}&buckets=2&ip=192.0.2.2`,
    });
    expect(data.buckets).toMatchObject([
      { allowed: 0, denied: 0 },
      { allowed: 0, denied: 1 },
    ]);
  });

  it('covers the last day without a period', async () => {
    const { data } = await admin.bodyOf<{ data: { step: number; buckets: readonly object[] } }>('admin.decisions.histogram');
    expect(data.step * data.buckets.length).toBeGreaterThanOrEqual(86_400);
    expect(data.buckets.length).toBeLessThanOrEqual(60);
  });

  it.each(['from=2026-01-31&to=2026-01-31', 'from=2026-02-01&to=2026-01-31', 'buckets=0', 'buckets=501'])(
    'refuses the period or the number of buckets of ?%s',
    async (query) => {
      expect(await codeOf(admin.send('admin.decisions.histogram', { query }))).toMatch(/^REQUEST_PARAMETER (from|buckets):range$/);
    },
  );
});

describe('admin.decisions.facets', () => {
  it('counts the values of the named members, the most frequent first', async () => {
    expect(await admin.bodyOf('admin.decisions.facets', { query: `${PERIOD}&fields=action,allowed,outcome` })).toEqual({
      success: true,
      data: {
        facets: {
          action: [
            { value: 'read', count: 2 },
            { value: 'list', count: 1 },
          ],
          allowed: [
            { value: true, count: 2 },
            { value: false, count: 1 },
          ],
          outcome: [{ value: null, count: 3 }],
        },
        total: 3,
      },
    });
  });

  it('returns at most `top` values', async () => {
    const { data } = await admin.bodyOf<{ data: { facets: object } }>('admin.decisions.facets', { query: `${PERIOD}&fields=action&top=1` });
    expect(data.facets).toEqual({ action: [{ value: 'read', count: 2 }] });
  });

  it.each(['', 'fields=', 'fields=facts', 'fields=action,', 'fields=action;kind', 'fields=action&top=101'])(
    'refuses the members or the number of values of ?%s',
    async (query) => {
      expect(await codeOf(admin.send('admin.decisions.facets', { query }))).toMatch(/^REQUEST_PARAMETER (fields|top):/);
    },
  );
});

describe('the names of a search', () => {
  it('returns the names of users and policies beside their ids', async () => {
    const found = await admin.bodyOf<{ names?: object }>('admin.decisions.list', { query: `${PERIOD}&names=true` });
    expect(found.names).toMatchObject({ users: { ann: 'Ann' }, policies: { [policyId]: 'Readers' } });
    expect(await admin.bodyOf('admin.decisions.list', { query: PERIOD })).not.toHaveProperty('names');
  });

  it('returns the names of an inactive policy and of its rules', async () => {
    const rules = [{ resource: 'Article', action: 'read', description: 'readers read' }];
    const body = { name: 'Former readers', type: 'CUSTOM', isActive: false, rules };
    const { data } = await admin.bodyOf<{ data: { id: string; rules: readonly [{ id: string }] } }>('admin.policies.create', { body });
    const ruleId = data.rules[0].id;
    const at = new Date(T0 - HOUR).toISOString();
    await appendEntries(admin, [{ at, policyId: data.id, ruleId }]);
    const found = await admin.bodyOf<{ names?: object }>('admin.decisions.list', { query: `ruleId=${ruleId}&names=true` });
    expect(found.names).toMatchObject({ policies: { [data.id]: 'Former readers' }, rules: { [ruleId]: 'readers read' } });
  });
});
