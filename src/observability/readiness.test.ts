import { describe, expect, it } from 'vitest';
import type { ModelKeeper } from '../authz/policy-store.ts';
import type { Database } from '../storage/index.ts';
import { createReadiness, type ReadinessKeeper } from './readiness.ts';

/** A database that can be made to fail, and what readiness says of it. */
interface Watched {
  readonly readiness: ReadinessKeeper;
  /** What the next proof comes to. */
  next: 'written' | 'failed' | 'silent';
  /** Proofs that were asked for. */
  proofs: number;
  commits: number;
  healthy: boolean;
  fault: string | undefined;
  /** The fault that the next probe finds; undefined for none. */
  found: string | undefined;
  epoch: number | undefined;
}

function watch(trust: number): Watched {
  const state = {
    next: 'written' as Watched['next'],
    proofs: 0,
    commits: 0,
    healthy: true,
    fault: undefined as string | undefined,
    found: undefined as string | undefined,
    epoch: 1 as number | undefined,
  };
  const database = {
    get healthy() {
      return state.healthy;
    },
    get fault() {
      return state.fault;
    },
    get figures() {
      return { commits: state.commits };
    },
    async prove() {
      state.proofs++;
      if (state.next === 'silent') await new Promise(() => undefined);
      state.healthy = state.next === 'written';
      state.fault = state.found;
      if (state.healthy) state.commits++;
    },
  } as unknown as Database;
  const model = {
    epoch: () => state.epoch,
  } as unknown as ModelKeeper;
  return Object.assign(state, { readiness: createReadiness({ database, model, trust, patience: 20 }) });
}

describe('readiness', () => {
  it('is not there before an epoch is', async () => {
    const watched = watch(60_000);
    watched.epoch = undefined;
    expect(await watched.readiness.now()).toEqual({ ok: false, why: 'no policies have been loaded yet' });
    expect(watched.proofs).toBe(0);
  });

  it('has a commit written where none was seen, and believes it for a while', async () => {
    const watched = watch(60_000);
    expect(await watched.readiness.now()).toEqual({ ok: true });
    expect(await watched.readiness.now()).toEqual({ ok: true });
    expect(watched.proofs).toBe(1);
  });

  it('asks for no proof while requests give it', async () => {
    const watched = watch(0.001);
    for (let asked = 0; asked < 3; asked++) {
      watched.commits++;
      expect(await watched.readiness.now()).toEqual({ ok: true });
    }
    // The trust is over at once, but each time there was a commit meanwhile.
    expect(watched.proofs).toBeLessThanOrEqual(3);
    expect(watch(60_000).proofs).toBe(0);
  });

  it('finds out by itself that the record cannot be written, and leaves it to the database to find out that it can again', async () => {
    const watched = watch(0);
    watched.next = 'failed';
    const red = { ok: false, why: 'decisions cannot be recorded' };
    expect([await watched.readiness.now(), await watched.readiness.now()]).toEqual([red, red]);
    expect(watched.proofs).toBe(1);
    watched.healthy = true;
    watched.next = 'written';
    expect(await watched.readiness.now()).toEqual({ ok: true });
  });

  it('does not wait for a database that says nothing, and does not ask it twice at once', async () => {
    const watched = watch(0);
    watched.next = 'silent';
    const red = { ok: false, why: 'the database does not answer' };
    expect(await Promise.all([watched.readiness.now(), watched.readiness.now()])).toEqual([red, red]);
    expect(await watched.readiness.now()).toEqual(red);
    expect(watched.proofs).toBe(1);
  });

  it('gives the fault of a database whose commits work, and finds out by itself that it is gone', async () => {
    const watched = watch(0);
    watched.found = 'the clock is wrong';
    expect(await watched.readiness.now()).toEqual({ ok: false, why: 'the clock is wrong' });
    watched.found = undefined;
    expect(await watched.readiness.now()).toEqual({ ok: true });
  });

  it('ends when the service is about to', async () => {
    const watched = watch(60_000);
    watched.readiness.stop();
    expect(await watched.readiness.now()).toEqual({ ok: false, why: 'the service is shutting down' });
  });
});
