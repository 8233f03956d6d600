/** Verification finds and locates every random manipulation of audit entries in the database. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTENT } from '../../src/audit/index.ts';
import { openTestAuditLog, type StoredEntry, type TestAuditLog } from '../../src/audit/integrity/integrity.fixture.ts';
import { type Sql, sql } from '../../src/sql.ts';
import { anyCharacter } from '../any-character.ts';
import { casesOf } from '../budget.ts';

const CHAINS = [14, 3, 1, 9];

let record: TestAuditLog;
let rows: readonly StoredEntry[];

beforeAll(async () => {
  record = await openTestAuditLog();
  await record.fill(CHAINS);
  await record.checkpoint();
  rows = await record.rows();
  await record.tamper(sql`create table "kept" as select * from "_Decision"`);
});
afterAll(() => record.dispose());

/** A manipulation of the audit log, and the chains that it affects. */
interface Attack {
  readonly about: string;
  readonly on: readonly StoredEntry[];
  readonly statements: readonly Sql[];
  /** The acceptable reports. */
  readonly kinds: readonly string[];
}

const OTHERS: Readonly<Record<string, readonly unknown[]>> = {
  at: ['2020-01-01T00:00:00.000Z', '2027-01-01T00:00:00.999Z'],
  kind: ['access', 'admin'],
  allowed: [true, false],
  epoch: [0, 7, null],
  facts: ['{}', '{"user.name": "Zoë \\"☃\\""}', null],
};

const index = fc.nat(CHAINS.reduce((sum, each) => sum + each) - 1);
const edit = fc
  .record({ index, column: fc.constantFrom(...CONTENT), pick: fc.nat(), text: fc.string({ unit: anyCharacter, maxLength: 12 }) })
  .map(({ index: at, column, pick, text }): Attack => {
    const entry = rows[at] as StoredEntry;
    const other = text.toWellFormed().replaceAll('\u0000', '') || 'x';
    // Several edits must not give two entries the same id, which the database refuses.
    const others = OTHERS[column] ?? (column === 'id' ? [other + entry.id] : [other, null]);
    const value = others[pick % others.length];
    const same = column === 'allowed' ? (entry[column] === 1) === value : (entry[column] ?? null) === value;
    return {
      about: `${column} of ${entry.sequence}: ${value}`,
      on: same ? [] : [entry],
      statements: [sql`update "_Decision" set ${sql.ref(column)} = ${value} where "id" = ${entry.id}`],
      kinds: ['edited'],
    };
  });
const deletion = fc.uniqueArray(index, { minLength: 1, maxLength: 4 }).map((gone): Attack => {
  const on = gone.map((at) => rows[at] as StoredEntry);
  const statements = on.map(({ id }) => sql`delete from "_Decision" where "id" = ${id}`);
  return { about: `without ${on.map(({ sequence }) => sequence)}`, on, statements, kinds: ['missing', 'truncated'] };
});
const truncation = index.map((at): Attack => {
  const entry = rows[at] as StoredEntry;
  const gone = sql`delete from "_Decision" where "writer" = ${entry.writer} and "sequence" >= ${entry.sequence}`;
  return { about: `from ${entry.sequence} on`, on: [entry], statements: [gone], kinds: ['truncated'] };
});
const swap = fc.tuple(index, index).map(([one, other]): Attack => {
  const [a, b] = [rows[one] as StoredEntry, rows[other] as StoredEntry];
  const put = (row: StoredEntry, { writer, sequence }: Pick<StoredEntry, 'writer' | 'sequence'>): Sql =>
    sql`update "_Decision" set "writer" = ${writer}, "sequence" = ${sequence} where "id" = ${row.id}`;
  const statements = [put(a, { writer: 'aside', sequence: 1 }), put(b, a), put(a, b)];
  const isSame = a.writer === b.writer;
  return {
    about: `${one} and ${other}`,
    on: one === other ? [] : [a, b],
    statements,
    kinds: isSame ? ['reordered'] : ['edited', 'reordered'],
  };
});
const insertion = fc.tuple(index, index).map(([of, after]): Attack => {
  const [copied, before] = [rows[of] as StoredEntry, rows[after] as StoredEntry];
  const { writer, sequence } = before;
  const statements = [
    sql`update "_Decision" set "sequence" = -"sequence" where "writer" = ${writer} and "sequence" > ${sequence}`,
    sql`update "_Decision" set "sequence" = 1 - "sequence" where "writer" = ${writer} and "sequence" < 0`,
    sql`insert into "_Decision" ("id", "at", "kind", "allowed", "reason", "writer", "sequence", "hash")
      select 'put', "at", "kind", "allowed", "reason", ${writer}, ${sequence + 1}, "hash" from "_Decision" where "id" = ${copied.id}`,
  ];
  return { about: `${of} again after ${after}`, on: [before], statements, kinds: ['inserted', 'edited'] };
});

async function restore(): Promise<void> {
  await record.tamper(sql`delete from "_Decision"`, sql`insert into "_Decision" select * from "kept"`);
}

describe('an audit log of several chains', () => {
  it.each([
    ['an edit', edit],
    ['a deletion', deletion],
    ['a truncation', truncation],
    ['a swap', swap],
    ['an insertion', insertion],
  ])('verification finds and names %s', async (_, attacks) => {
    await fc.assert(
      fc.asyncProperty(attacks, async ({ about, on, statements, kinds }) => {
        await record.tamper(...statements);
        const { breaks } = await record.verify();
        await restore();
        const found = breaks.map(({ kind }) => kind as string);
        const isNamed = on.length === 0 ? found.length === 0 : found.some((kind) => kinds.includes(kind));
        expect(isNamed, `${about}: ${found}`).toBe(true);
        const chains = new Set(on.map(({ writer }) => writer));
        expect(new Set(breaks.map(({ writer }) => writer)), about).toEqual(chains);
      }),
      { numRuns: casesOf(20) },
    );
    expect((await record.verify()).breaks).toEqual([]);
  });

  it('verification finds several random manipulations at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(edit, deletion), { minLength: 1, maxLength: 6 }), async (attacks) => {
        for (const { statements } of attacks) await record.tamper(...statements);
        const { breaks } = await record.verify();
        const left = await record.rows();
        await restore();
        const isSame = JSON.stringify(left) === JSON.stringify(rows);
        expect(breaks.length > 0).toBe(!isSame);
      }),
      { numRuns: casesOf(20) },
    );
  });
});
