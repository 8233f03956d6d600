import { describe, expect, it } from 'vitest';
import type { MigrationRecord, Plan, Step } from '../storage/index.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

describe('storage', () => {
  const tags: Step = {
    resource: 'Article',
    kind: 'addColumn',
    risk: 'safe',
    reason: 'Article.tags is new',
    sql: ['ALTER TABLE "Article" ADD COLUMN "tags" TEXT'],
  };
  const price: Step = { resource: 'Tip', kind: 'convert', risk: 'lossy', reason: 'Tip.price changes', sql: ['UPDATE 1', 'UPDATE 2;'] };
  const stay: Step = { resource: 'Desk', kind: 'stay', risk: 'blocked', reason: 'has 3 rows', sql: [] };
  const plan: Plan = { hash: 'abc', steps: [tags, price, stay], held: ['Tip', 'Desk'] };

  it('storage plan prints steps with their SQL, and fails if a resource is not migrated', async () => {
    const run = createRun({ tables: { plan: async () => plan } });
    expect(await runCli(['storage', 'plan'], run.context)).toBe(1);
    expect(run.out).toEqual([
      '-- Article, safe: Article.tags is new',
      'ALTER TABLE "Article" ADD COLUMN "tags" TEXT;',
      '-- Tip, lossy: Tip.price changes',
      'UPDATE 1;',
      'UPDATE 2;',
      '-- plan abc',
    ]);
    expect(run.err).toEqual([
      'Tip is not migrated (lossy): Tip.price changes',
      'Desk is not migrated (blocked): has 3 rows',
      'to perform the lossy steps, run: bailiwick storage apply --allow abc',
    ]);
    expect(run.calls).toEqual(['close']);
  });

  it('storage plan --json prints the whole plan, and fails as well', async () => {
    const run = createRun({ tables: { plan: async () => plan } });
    expect(await runCli(['storage', 'plan', '--json'], run.context)).toBe(1);
    expect(JSON.parse(run.out.join(''))).toEqual(plan);
  });

  it('reports that there is nothing to do, list or delete', async () => {
    const run = createRun();
    for (const command of ['plan', 'apply', 'history', 'prune']) expect(await runCli(['storage', command], run.context)).toBe(0);
    expect(run.out).toEqual([
      'nothing to do: the tables match the definitions',
      'no steps were performed',
      'no migrations were applied yet',
      'there is no archived data',
    ]);
  });

  it('storage apply passes the allowed hash on, and prints the performed steps and the hash of those that remain', async () => {
    const run = createRun({
      tables: {
        apply: async ({ allow }) => ({
          ...{ definitions: new Map(), plan, done: allow === 'abc' ? [tags, price] : [tags] },
          remaining: allow === 'abc' ? { ...plan, held: [] } : { ...plan, hash: 'def', steps: [price], held: ['Tip'] },
        }),
      },
    });
    expect(await runCli(['storage', 'apply', '--allow', 'abc'], run.context)).toBe(0);
    expect(run.out).toEqual(['Article: Article.tags is new', 'Tip: Tip.price changes']);
    expect(await runCli(['storage', 'apply'], run.context)).toBe(1);
    expect(run.err.at(-1)).toBe('to perform the lossy steps, run: bailiwick storage apply --allow def');
    expect(await runCli(['storage', 'apply', '--allow'], run.context)).toBe(2);
  });

  it('storage restored prints its effects', async () => {
    const run = createRun();
    expect(await runCli(['storage', 'restored'], run.context)).toBe(0);
    expect([run.out, run.calls]).toEqual([['all sessions were ended, and a new revision has begun'], ['noteRestored', 'close']]);
  });

  it('storage prune deletes only with --yes', async () => {
    const drop: Step = { resource: 'Tip', kind: 'dropTable', risk: 'destructive', reason: '3 records', sql: ['DROP TABLE "Tip"'] };
    const dropped: string[] = [];
    const prune = async (): Promise<readonly Step[]> => {
      dropped.push('Tip');
      return [drop];
    };
    const run = createRun({ tables: { planPrune: async () => ({ hash: 'h', steps: [drop], held: [] }), prune } });
    await runCli(['storage', 'prune'], run.context);
    expect([dropped, run.out]).toEqual([
      [],
      ['-- Tip, destructive: 3 records', 'DROP TABLE "Tip";', '-- nothing was deleted; run again with --yes to delete'],
    ]);
    await runCli(['storage', 'prune', '--yes'], run.context);
    expect([dropped, run.out.at(-1)]).toEqual([['Tip'], '-- deleted']);
  });

  it('storage history prints time, actor and steps', async () => {
    const steps: MigrationRecord['steps'] = [{ kind: 'addColumn', resource: 'Article', risk: 'safe', reason: 'Article.tags is new' }];
    const migration = { id: 'm1', at: '2026-01-01T00:00:00.000Z', actor: 'start', planHash: 'a'.repeat(64), durationMs: 12, steps };
    const run = createRun({ tables: { history: async () => [migration] } });
    await runCli(['storage', 'history'], run.context);
    expect(run.out).toEqual(['2026-01-01T00:00:00.000Z  by start, in 12 ms, plan aaaaaaaaaaaa', '  Article, safe: Article.tags is new']);
    await runCli(['storage', 'history', '--json'], run.context);
    expect(JSON.parse(run.out.slice(2).join(''))).toEqual([migration]);
  });

  it('storage history prints the reason of a backup or restore', async () => {
    const restored: MigrationRecord['steps'][number] = {
      kind: 'restore',
      resource: '*',
      risk: 'destructive',
      reason: 'restored from a backup',
    };
    const migration = { id: 'm1', at: '2026-01-01T00:00:00.000Z', actor: 'cli', planHash: '', durationMs: 12, steps: [restored] };
    const run = createRun({ tables: { history: async () => [migration] } });
    await runCli(['storage', 'history'], run.context);
    expect(run.out).toEqual(['2026-01-01T00:00:00.000Z  by cli, in 12 ms', '  restored from a backup']);
  });

  it('storage prune counts soft-deleted records, and deletes them with --deleted-before', async () => {
    const deleted = { resource: 'Tip', count: 3, oldest: '2026-01-01T00:00:00.000Z', newest: '2026-02-01T00:00:00.000Z' };
    const drop: Step = { resource: 'Tip', kind: 'dropRecords', risk: 'destructive', reason: '2 Tip records …', sql: ['DELETE 1'] };
    const stays: Step = { resource: 'Tip', kind: 'stay', risk: 'blocked', reason: '1 Tip record stays', sql: [] };
    const calls: unknown[] = [];
    const run = createRun({
      tables: {
        deletedRecords: async () => [deleted, { ...deleted, resource: 'Desk', count: 1 }],
        planPrune: async ({ deletedBefore }) => ({ ...plan, steps: deletedBefore === undefined ? [] : [drop, stays] }),
        prune: async (options) => {
          calls.push(options);
          return [drop];
        },
      },
    });
    const counts = [
      '-- Tip: 3 soft-deleted records, deleted from 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z',
      '-- Desk: 1 soft-deleted record, deleted at 2026-01-01T00:00:00.000Z',
    ];
    const printed = async (...args: readonly string[]): Promise<readonly string[]> => {
      run.out.length = 0;
      expect(await runCli(['storage', 'prune', ...args], run.context)).toBe(0);
      return run.out;
    };
    expect(await printed()).toEqual([
      ...counts,
      'there is no archived data; to delete the soft-deleted records, run again with --deleted-before <days> --yes',
    ]);
    expect(await printed('--deleted-before', '30')).toEqual([
      ...counts,
      '-- Tip, destructive: 2 Tip records …',
      'DELETE 1;',
      '-- Tip, blocked: 1 Tip record stays',
      '-- nothing was deleted; run again with --yes to delete',
    ]);
    expect((await printed('--deleted-before', '0', '--yes')).at(-1)).toBe('-- deleted');
    expect((await printed('--yes')).at(-1)).toBe('-- deleted');
    expect(calls).toEqual([{ deletedBefore: 0 }, { deletedBefore: undefined }]);
    for (const days of ['x', '-1', '1.5', '36501', '']) {
      expect(await runCli(['storage', 'prune', '--deleted-before', days, '--yes'], run.context)).toBe(2);
    }
    expect(calls).toHaveLength(2);
  });
});
