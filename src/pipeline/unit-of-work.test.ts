import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../audit/index.ts';
import type { VerifiedToken } from '../authn/index.ts';
import { Problem } from '../errors.ts';
import type { ApiRequest } from '../request/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import { sealAll } from '../storage/policies/seal.fixture.ts';
import { failure } from '../storage/storage.fixture.ts';
import { codeOf, inShort, openPipeline, type TestPipeline, type TestUser, toApiRequest } from './pipeline.fixture.ts';
import { appendAsDecided } from './pipeline.ts';
import { createRequestContext, type UnitOfWork } from './request-context.ts';
import { rollBackUnless } from './roll-back.ts';
import { decideOn } from './steps/decide-request.ts';
import { authenticate, identifyAgain, toCallerKey, withAuditMode, withUnitOfWork } from './unit-of-work.ts';

let test: TestPipeline;
let recorded: (readonly AuditEntry[])[];
beforeEach(async () => {
  recorded = [];
  test = await openPipeline({
    definitions: { Article: { fields: { title: { type: 'string' } } } },
    records: { Article: { a1: { title: 'one' } } },
    deps: { observer: { decided: () => undefined, recorded: (entries) => recorded.push(entries) } },
  });
  return () => test.dispose();
});

async function inUnit<T>(as: TestUser, work: (unit: UnitOfWork) => Promise<T>, ...requests: readonly ApiRequest[]): Promise<T> {
  return withUnitOfWork(test.deps, { caller: await authenticate(test.deps, test.originOf(as)), requests }, work);
}

const retitle = (tx: Transaction) => tx.run(sql`UPDATE "Article" SET "title" = 'two'`);
const titles = async (): Promise<unknown> => (await test.rows('Article')).map(({ title }) => title);

async function appendEntry(unit: UnitOfWork): Promise<void> {
  const context = createRequestContext(unit, { action: 'read', resource: 'Article', where: [], typed: true, sort: [], total: false });
  await decideOn(context, { record: undefined, recordId: 'a1' });
  appendAsDecided(context, context.entries);
}

describe('the caller', () => {
  it.each<[TestUser, unknown]>([
    ['ada', { id: 'ada', role: 'admin' }],
    ['ann', { id: 'ann', role: 'user' }],
    ['anon', { role: 'anon' }],
  ])('the principal of %s has the stored role', async (as, principal) => {
    expect(await inUnit(as, async (unit) => unit.principal)).toMatchObject(principal as object);
  });

  it('an invalid token is refused before the transaction', async () => {
    expect(await codeOf(authenticate(test.deps, { ...test.originOf('ann'), token: 'x' }))).toBe('IDENTITY_TOKEN');
  });

  it.each([
    ['192.0.2.7', 'anonymous 192.0.2.0/24'],
    ['2001:db8:1:2:3::4', 'anonymous 2001:db8:1:2::/64'],
  ])('callers without a token share the limits of their network: %s', async (ip, key) => {
    expect(await authenticate(test.deps, { ...test.originOf('anon'), ip })).toMatchObject({ key });
    expect(await authenticate(test.deps, { ...test.originOf('ann'), ip })).toMatchObject({ key: 'ann' });
  });

  it('the token of a user who is no longer active is refused before the work begins', async () => {
    await test.deps.database.transaction(async (tx) => {
      await tx.run(sql`UPDATE "User" SET "isActive" = 0 WHERE "id" = 'ann'`);
      await sealAll(tx);
    });
    let runs = 0;
    expect(await codeOf(inUnit('ann', async () => runs++))).toBe('IDENTITY_TOKEN');
    expect(runs).toBe(0);
  });

  it('identifyAgain loads the user as the transaction has changed it', async () => {
    await inUnit('ann', async (unit) => {
      await unit.tx.run(sql`UPDATE "User" SET "role" = 'admin' WHERE "id" = 'ann'`);
      await sealAll(unit.tx, unit.snapshot.user);
      unit.tx.addToWriteSet({ users: [{ id: 'ann', version: 1 }] });
      const again = await identifyAgain(unit);
      expect([unit.principal.role, again.principal.role]).toEqual(['user', 'admin']);
    });
  });

  it('identifyAgain refuses a caller whose sessions the transaction has ended', async () => {
    const refused = inUnit('ann', async (unit) => {
      await unit.tx.run(sql`UPDATE "_Session" SET "revokedAt" = 'now' WHERE "userId" = 'ann'`);
      unit.tx.addToWriteSet({ endedSessionsOf: ['ann'] });
      await identifyAgain(unit);
    });
    expect(await codeOf(refused)).toBe('IDENTITY_TOKEN');
  });

  it('identifyAgain loads nothing if the transaction has changed no user', async () => {
    await inUnit('ann', async (unit) => expect(await identifyAgain(unit)).toBe(unit));
  });
});

describe('a unit of work', () => {
  it('a unit of work commits, returns the result, and then reports the appended entries once', async () => {
    const result = await inUnit('ann', async (unit) => {
      await retitle(unit.tx);
      await appendEntry(unit);
      expect(recorded).toEqual([]);
      return 'done';
    });
    expect([result, await titles(), recorded.map(inShort)]).toEqual(['done', ['two'], [['deny read Article a1']]]);
    expect(inShort(await test.entries())).toEqual(['deny read Article a1']);
  });

  it('a unit of work that throws is rolled back with its entries, and reports none', async () => {
    const error = new Error('defect');
    const work = inUnit('ann', async (unit) => {
      await retitle(unit.tx);
      await appendEntry(unit);
      throw error;
    });
    expect(await failure(work)).toBe(error);
    expect([await titles(), await test.entries(), recorded]).toEqual([['one'], [], []]);
  });

  it('a unit of work that the database runs again reports only the entries of its last run', async () => {
    const { database } = test.deps;
    // Runs the work first in a savepoint that is rolled back, as after a conflict of transactions.
    const transactionAtRevision: typeof database.transactionAtRevision = (prefetch, work) =>
      database.transactionAtRevision(prefetch, async (unit) => {
        await rollBackUnless(unit.tx, async () => {
          await work(unit);
          return false;
        });
        return work(unit);
      });
    const caller = await authenticate(test.deps, test.originOf('ann'));
    await withUnitOfWork({ ...test.deps, database: { ...database, transactionAtRevision } }, { caller }, appendEntry);
    expect(recorded.map((entries) => entries.length)).toEqual([1]);
    expect(await test.entries()).toHaveLength(1);
  });

  it('a unit of work has the prefetched record', async () => {
    const prefetchedOf = (id: string) =>
      inUnit('ann', async ({ prefetched }) => prefetched, toApiRequest({ action: 'read', resource: 'Article', id }));
    expect(await prefetchedOf('a1')).toMatchObject({ row: { id: 'a1', title: 'one' } });
    expect(await prefetchedOf('unknown')).toEqual({ row: null });
    expect(await inUnit('ann', async ({ prefetched }) => prefetched)).toBeUndefined();
  });
});

describe('a unit of work that needs passwords', () => {
  it('two users of a unit of work with the same password have different hashes', async () => {
    let stored: string[] = [];
    await inUnit('ada', async ({ hashes }) => {
      stored = [hashes.of('new password'), hashes.of('new password')];
      hashes.assertComplete();
    });
    expect(stored).toEqual(Array(2).fill(expect.stringMatching(/^\$argon2id\$/)));
    expect(new Set(stored).size).toBe(2);
  });

  it('a unit of work that needs hashes is rolled back and runs again with them, and reports only the entries of the second run', async () => {
    const hashes: string[] = [];
    await inUnit('ada', async (unit) => {
      expect(await unit.tx.all(sql`SELECT "title" FROM "Article"`)).toEqual([{ title: 'one' }]);
      await retitle(unit.tx);
      await appendEntry(unit);
      hashes.push(unit.hashes.of('new password'));
      unit.hashes.assertComplete();
    });
    expect(hashes).toEqual(['', expect.stringMatching(/^\$argon2id\$/)]);
    expect([await titles(), recorded.map((entries) => entries.length)]).toEqual([['two'], [1]]);
    expect(await test.entries()).toHaveLength(1);
  });

  it('a unit of work that needs a proof runs again with it', async () => {
    const stored = await test.deps.identity.hashPassword('old password');
    await test.deps.database.transaction((tx) => tx.run(sql`UPDATE "User" SET "password" = ${stored} WHERE "id" = 'ann'`));
    const proofs: unknown[] = [];
    await inUnit('ann', async (unit) => {
      proofs.push(unit.hashes.proofOf({ userId: 'ann', plain: 'old password' }));
      unit.hashes.assertComplete();
    });
    expect(proofs).toEqual([undefined, { hash: stored }]);
  });

  it('no password is hashed if the proof is refused', async () => {
    const hashed: string[] = [];
    const { identity } = test.deps;
    const hashPassword = (plain: string): Promise<string> => {
      hashed.push(plain);
      return identity.hashPassword(plain);
    };
    const deps = { ...test.deps, identity: { ...identity, hashPassword } };
    const caller = await authenticate(deps, test.originOf('ann'));
    const work = withUnitOfWork(deps, { caller }, async ({ hashes }) => {
      hashes.of('new password');
      const proof = hashes.proofOf({ userId: 'ann', plain: 'guess' });
      if (proof !== undefined && 'refused' in proof) throw proof.refused;
      hashes.assertComplete();
    });
    expect(await codeOf(work)).toBe('IDENTITY_CURRENT_PASSWORD');
    expect(hashed).toEqual([]);
  });
});

describe('the audit mode of reads', () => {
  const unavailable = new Problem('STORAGE_UNAVAILABLE', 'disk full');
  it.each<[string, 'strict' | 'relaxed', Error | undefined, readonly boolean[]]>([
    ['relaxed repeats a read without entries if they cannot be written', 'relaxed', unavailable, [true, false]],
    ['relaxed does not repeat a read that succeeds', 'relaxed', undefined, [true]],
    ['relaxed does not repeat a read that another problem refuses', 'relaxed', new Problem('STORAGE_BUSY', 'busy'), [true]],
    ['relaxed does not repeat a read that fails by a defect', 'relaxed', new Error('defect'), [true]],
    ['strict does not repeat a read', 'strict', unavailable, [true]],
  ])('the audit mode %s', async (_, auditMode, error, expected) => {
    const runs: boolean[] = [];
    const work = withAuditMode({ ...test.deps, auditMode }, async (isAudited) => {
      runs.push(isAudited);
      if (isAudited && error !== undefined) throw error;
      return 'read';
    });
    if (error !== undefined && expected.length === 1) expect(await failure(work)).toBe(error);
    else expect(await work).toBe('read');
    expect(runs).toEqual(expected);
  });
});

describe('the key of a caller in the queue of long requests', () => {
  it('a key differs for equal subjects of two issuers, and for a stored user whose id is the subject', () => {
    const foreign = { subject: 'ann', claims: { role: 'user' }, expires: 0 };
    const tokens: readonly VerifiedToken[] = [
      { issuer: undefined, userId: 'ann', sessionId: 's1', expires: 0 },
      { ...foreign, issuer: 'https://a.example' },
      { ...foreign, issuer: 'https://b.example' },
    ];
    const keys = tokens.map((token) => toCallerKey(token, '192.0.2.1'));
    expect(new Set(keys).size).toBe(3);
  });
});
