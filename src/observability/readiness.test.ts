import { describe, expect, it } from 'vitest';
import type { PolicyStore } from '../authz/policy-store.ts';
import type { Database } from '../storage/index.ts';
import { createReadiness, type ReadinessProbe } from './readiness.ts';

/** A database that can be made to fail, with its readiness probe. */
interface TestDatabase {
  readonly readiness: ReadinessProbe;
  /** The outcome of the next probe commit. */
  next: 'written' | 'failed' | 'silent';
  /** Number of probe commits. */
  probes: number;
  commits: number;
  healthy: boolean;
  fault: string | undefined;
  /** The fault that the next probe commit finds; undefined for none. */
  found: string | undefined;
  epoch: number | undefined;
  damaged: readonly { readonly table: string; readonly id: string }[];
}

function createTestDatabase(trustMs: number): TestDatabase {
  const state = {
    next: 'written' as TestDatabase['next'],
    probes: 0,
    commits: 0,
    healthy: true,
    fault: undefined as string | undefined,
    found: undefined as string | undefined,
    epoch: 1 as number | undefined,
    damaged: [] as readonly { readonly table: string; readonly id: string }[],
  };
  const database = {
    get healthy() {
      return state.healthy;
    },
    get fault() {
      return state.fault;
    },
    get metrics() {
      return { commits: state.commits };
    },
    async probe() {
      state.probes++;
      if (state.next === 'silent') await new Promise(() => undefined);
      state.healthy = state.next === 'written';
      state.fault = state.found;
      if (state.healthy) state.commits++;
    },
  } as unknown as Database;
  const policyStore = {
    revision: () => state.epoch,
    damaged: () => state.damaged,
  } as unknown as PolicyStore;
  return Object.assign(state, { readiness: createReadiness({ database, policyStore, trustMs, timeoutMs: 20 }) });
}

describe('readiness', () => {
  it('the first check waits until the first requests are prepared', async () => {
    const { database, policyStore } = {
      database: { healthy: true, fault: undefined, metrics: { commits: 0 }, probe: async () => undefined } as unknown as Database,
      policyStore: { revision: () => 1, damaged: () => [] } as unknown as PolicyStore,
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    let isPrepared = false;
    const prepare = async (): Promise<void> => {
      await promise;
      isPrepared = true;
    };
    const checked = createReadiness({ database, policyStore, prepare })
      .check()
      .then(({ ok }) => [ok, isPrepared]);
    setImmediate(resolve);
    expect(await checked).toEqual([true, true]);
  });

  it('readiness is negative while the disk is almost full, also if commits succeed', async () => {
    const { database, policyStore } = {
      database: { healthy: true, metrics: { commits: 0 }, probe: async () => undefined },
      policyStore: { revision: () => 1, damaged: () => [] },
    };
    const disk = { fault: 'almost full' as string | undefined };
    const readiness = createReadiness({
      database: database as unknown as Database,
      policyStore: policyStore as unknown as PolicyStore,
      disk,
    });
    expect(await readiness.check()).toEqual({ ok: false, why: 'almost full' });
    disk.fault = undefined;
    expect(await readiness.check()).toEqual({ ok: true });
  });

  it('readiness is negative before a revision is loaded', async () => {
    const database = createTestDatabase(60_000);
    database.epoch = undefined;
    expect(await database.readiness.check()).toEqual({ ok: false, why: 'no policies have been loaded yet' });
    expect(database.probes).toBe(0);
  });

  it('makes a probe commit if there was none, and trusts it for a while', async () => {
    const database = createTestDatabase(60_000);
    expect(await database.readiness.check()).toEqual({ ok: true });
    expect(await database.readiness.check()).toEqual({ ok: true });
    expect(database.probes).toBe(1);
  });

  it('makes no probe commit while requests commit', async () => {
    const database = createTestDatabase(0.001);
    for (let count = 0; count < 3; count++) {
      database.commits++;
      expect(await database.readiness.check()).toEqual({ ok: true });
    }
    // A commit is trusted for a microsecond only, but there was a new one before each check.
    expect(database.probes).toBeLessThanOrEqual(3);
    expect(createTestDatabase(60_000).probes).toBe(0);
  });

  it('detects that the audit log cannot be written, and leaves it to the database to detect the recovery', async () => {
    const database = createTestDatabase(0);
    database.next = 'failed';
    const red = { ok: false, why: 'decisions cannot be recorded' };
    expect([await database.readiness.check(), await database.readiness.check()]).toEqual([red, red]);
    expect(database.probes).toBe(1);
    database.healthy = true;
    database.next = 'written';
    expect(await database.readiness.check()).toEqual({ ok: true });
  });

  it('readiness is negative if the database does not answer in time, and makes one probe commit at a time', async () => {
    const database = createTestDatabase(0);
    database.next = 'silent';
    const red = { ok: false, why: 'the database does not answer' };
    expect(await Promise.all([database.readiness.check(), database.readiness.check()])).toEqual([red, red]);
    expect(await database.readiness.check()).toEqual(red);
    expect(database.probes).toBe(1);
  });

  it('reports the fault of a database whose commits work, until a probe commit finds that it is gone', async () => {
    const database = createTestDatabase(0);
    database.found = 'the clock is wrong';
    expect(await database.readiness.check()).toEqual({ ok: false, why: 'the clock is wrong' });
    database.found = undefined;
    expect(await database.readiness.check()).toEqual({ ok: true });
  });

  it('readiness is negative while a policy or an assignment is damaged, and names its row', async () => {
    const database = createTestDatabase(60_000);
    database.damaged = [{ table: '_Policy', id: 'p1' }];
    const why = 'row p1 of _Policy is damaged: its checksum does not match its content; run "bailiwick verify"';
    expect(await database.readiness.check()).toEqual({ ok: false, why });
    database.damaged = [];
    expect(await database.readiness.check()).toEqual({ ok: true });
  });

  it('readiness is negative when the service shuts down', async () => {
    const database = createTestDatabase(60_000);
    database.readiness.stop();
    expect(await database.readiness.check()).toEqual({ ok: false, why: 'the service is shutting down' });
  });
});
