import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { CONTENT } from '../index.ts';
import { keepContent, openFilledAuditLog, type StoredEntry, type TestAuditLog, type TestVerification } from './integrity.fixture.ts';
import { type EntryPosition, verifyChains } from './verify-chains.ts';

let filled: TestAuditLog;
let openFilled: () => Promise<TestAuditLog>;
let auditLog: TestAuditLog;
let rows: readonly StoredEntry[];

const createFilled = () => openFilledAuditLog([12, 1, 9]);

beforeAll(async () => {
  filled = await createFilled();
  openFilled = await keepContent(filled);
});
afterAll(() => filled.dispose());
beforeEach(async () => {
  auditLog = await openFilled();
  rows = await auditLog.rows();
});
afterEach(() => auditLog.dispose());

const at = (index: number): StoredEntry => rows.at(index) as StoredEntry;
const summary = ({ breaks }: TestVerification) =>
  breaks.map(({ kind, sequence, id }) => [kind, sequence, ...(id === undefined ? [] : [id])]);
const swapped = (one: StoredEntry, other: StoredEntry) => [
  sql`update "_Decision" set "sequence" = 1000 where "id" = ${one.id}`,
  sql`update "_Decision" set "sequence" = ${one.sequence} where "id" = ${other.id}`,
  sql`update "_Decision" set "sequence" = ${other.sequence} where "id" = ${one.id}`,
];
const copyOf = ({ id }: StoredEntry, { sequence, writer }: { sequence: number; writer: string | null }) => sql`
  insert into "_Decision" ("id", "at", "kind", "allowed", "writer", "sequence", "hash")
  select 'put', "at", "kind", "allowed", ${writer}, ${sequence}, "hash" from "_Decision" where "id" = ${id}`;
const shift = (from: StoredEntry, by: 1 | -1) => [
  sql`update "_Decision" set "sequence" = -"sequence" where "writer" = ${from.writer} and "sequence" > ${from.sequence}`,
  sql`update "_Decision" set "sequence" = ${by} - "sequence" where "writer" = ${from.writer} and "sequence" < 0`,
];

describe('an unchanged audit log', () => {
  it('an unchanged audit log is intact', async () => {
    expect(await auditLog.verify()).toMatchObject({ entries: 22, chains: 3, notChained: 0, breaks: [], checkpoints: { lines: 1 } });
  });

  it('an unchanged audit log is intact while entries are appended', async () => {
    await auditLog.fill([5, 3]);
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it('returns the number of entries that are older than hash chains', async () => {
    await auditLog.tamper(
      sql`insert into "_Decision" ("id", "at", "kind", "allowed") values ('old', '2020-01-01T00:00:00.000Z', 'access', ${true})`,
    );
    expect(await auditLog.verify()).toMatchObject({ notChained: 1, breaks: [] });
  });
});

it('verification in pages of any size finds the same breaks', async () => {
  await auditLog.tamper(
    sql`update "_Decision" set "reason" = 'another' where "id" = ${at(5).id}`,
    sql`delete from "_Decision" where "id" = ${at(16).id}`,
  );
  for (const limit of [1, 2, 3, 7, 100]) {
    const found: unknown[] = [];
    let entries = 0;
    for (let from: EntryPosition | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
      const page = await verifyChains({
        transaction: (work) => auditLog.database.transaction(work),
        keys: new Map(),
        known: new Map(),
        from,
        limit,
      });
      found.push(...page.breaks.map(({ kind, id }) => `${kind} ${id ?? ''}`));
      entries += page.entries;
      from = page.next;
    }
    expect([limit, entries, found]).toEqual([limit, 21, [`edited ${at(5).id}`, 'missing ']]);
  }
});

describe('verification of an entry', () => {
  const edits = new Map<string, unknown>([
    ['at', '2020-01-01T00:00:00.000Z'],
    ['kind', 'other'],
    ['epoch', 999],
    ['allowed', true],
    ['facts', '{"changed":1}'],
  ]);

  it.each(CONTENT)('finds a change of the %s of an entry at every position, and its removal', async (column) => {
    for (const index of [0, 5, 11, 12, -1]) {
      const { id, sequence } = at(index);
      const before = at(index)[column] ?? null;
      const change = column === 'allowed' ? before !== 1 : (edits.get(column) ?? 'changed');
      await auditLog.tamper(sql`update "_Decision" set ${sql.ref(column)} = ${change} where "id" = ${id}`);
      expect(summary(await auditLog.verify()), `entry ${index}`).toEqual([['edited', sequence, column === 'id' ? 'changed' : id]]);
      const back = column === 'allowed' ? before === 1 : before;
      await auditLog.tamper(sql`update "_Decision" set ${sql.ref(column)} = ${back} where "id" = ${column === 'id' ? 'changed' : id}`);
      if (before === null || ['id', 'at', 'kind', 'allowed'].includes(column)) continue;
      await auditLog.tamper(sql`update "_Decision" set ${sql.ref(column)} = null where "id" = ${id}`);
      expect(summary(await auditLog.verify())).toEqual([['edited', sequence, id]]);
      await auditLog.tamper(sql`update "_Decision" set ${sql.ref(column)} = ${before} where "id" = ${id}`);
    }
    expect(summary(await auditLog.verify())).toEqual([]);
  });

  it('finds another hash of an entry', async () => {
    for (const index of [0, 5, -1]) {
      const { id, sequence, hash } = at(index);
      await auditLog.tamper(sql`update "_Decision" set "hash" = 'other' where "id" = ${id}`);
      expect(summary(await auditLog.verify())).toEqual([['edited', sequence, id]]);
      await auditLog.tamper(sql`update "_Decision" set "hash" = ${hash} where "id" = ${id}`);
    }
  });

  it('finds another sequence number of an entry', async () => {
    const { id } = at(5);
    await auditLog.tamper(sql`update "_Decision" set "sequence" = 40 where "id" = ${id}`);
    expect(summary(await auditLog.verify())).toEqual([
      ['missing', 6],
      ['missing', 13],
      ['reordered', 40, id],
    ]);
  });

  it.each([null, 0, -3])('finds a missing sequence number: %s', async (sequence) => {
    const { id } = at(5);
    await auditLog.tamper(sql`update "_Decision" set "sequence" = ${sequence} where "id" = ${id}`);
    expect(summary(await auditLog.verify())).toEqual([
      ['inserted', undefined, id],
      ['missing', 6],
    ]);
  });

  it('finds another chain, an unknown chain, and no chain', async () => {
    const { id, writer } = at(5);
    for (const other of ['none', at(-1).writer]) {
      await auditLog.tamper(sql`update "_Decision" set "writer" = ${other}, "sequence" = 10 where "id" = ${id}`);
      const kinds = (await auditLog.verify()).breaks.map(({ kind, writer: where }) => `${kind} ${where === writer ? 'here' : 'there'}`);
      expect(kinds).toContain('missing here');
      expect(kinds.some((kind) => kind.endsWith('there'))).toBe(true);
      await auditLog.tamper(sql`update "_Decision" set "writer" = ${writer}, "sequence" = 6 where "id" = ${id}`);
    }
    await auditLog.tamper(sql`update "_Decision" set "writer" = null where "id" = ${id}`);
    expect(summary(await auditLog.verify())).toEqual([
      ['inserted', undefined, id],
      ['missing', 6],
    ]);
  });
});

describe('verification of entries', () => {
  it('reports deleted entries as missing', async () => {
    for (const entry of [at(5), at(0), at(6), at(7)]) await auditLog.tamper(sql`delete from "_Decision" where "id" = ${entry.id}`);
    expect((await auditLog.verify()).breaks.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^entry 1 .*missing/),
      expect.stringMatching(/^entries 6 to 8 .*missing.* 3 /),
    ]);
  });

  it('finds a deleted entry that renumbered entries hide', async () => {
    const [gone, next] = [at(5), at(6)];
    await auditLog.tamper(sql`delete from "_Decision" where "id" = ${gone.id}`, ...shift(gone, -1));
    expect(summary(await auditLog.verify())).toEqual([
      ['edited', 6, next.id],
      ['truncated', 12],
    ]);
  });

  it('finds removed last entries by the checkpoint, and by chains that began later', async () => {
    const { writer } = at(0);
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" > 10`);
    const [found, ...others] = (await auditLog.verify()).breaks;
    expect(others).toEqual([]);
    expect(found?.detail).toMatch(/entry 10\b.*checkpoint.*entry 12\b.* 2 .*missing/);
  });

  it('finds a removed chain, with and without its beginning', async () => {
    const { writer } = at(0);
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer}`);
    expect(summary(await auditLog.verify())).toEqual([['truncated', 1]]);
    await auditLog.tamper(sql`delete from "_Chain" where "id" = ${writer}`);
    expect(summary(await auditLog.verify())).toEqual([['truncated', 1]]);
  });

  it('finds an entry that was inserted between others', async () => {
    const before = at(5);
    await auditLog.tamper(...shift(before, 1), copyOf(before, { sequence: 7, writer: before.writer }));
    expect(summary(await auditLog.verify())).toEqual([['inserted', 7, 'put']]);
  });

  it('finds an entry that was appended to a chain, and one without a chain', async () => {
    await auditLog.tamper(copyOf(at(11), { sequence: 13, writer: at(11).writer }));
    expect(summary(await auditLog.verify())).toEqual([['edited', 13, 'put']]);
    await auditLog.tamper(sql`delete from "_Decision" where "id" = 'put'`, copyOf(at(11), { sequence: 1, writer: null }));
    expect(summary(await auditLog.verify())).toEqual([['inserted', undefined, 'put']]);
  });

  it('finds an entry that was inserted into a chain with any id', async () => {
    // UTF-8, as databases compare it, and UTF-16, as we do, have the last two in different orders.
    for (const writer of ['', ' ', '\ufffd', '\u{10000}']) {
      await auditLog.tamper(copyOf(at(11), { sequence: 1, writer }));
      expect(summary(await auditLog.verify()), JSON.stringify(writer)).toEqual([['missing', 1]]);
      await auditLog.tamper(sql`delete from "_Decision" where "id" = 'put'`);
    }
    await auditLog.tamper(
      sql`insert into "_Chain" ("id", "at", "found") values (${'\u{10000}'}, '2027-01-01T00:00:00.000Z', '[]')`,
      copyOf(at(11), { sequence: 1, writer: '\ufffd' }),
    );
    expect(summary(await auditLog.verify())).toEqual([
      ['missing', 1],
      ['truncated', 1],
    ]);
  });

  it('finds an entry with the sequence number of another, if the index allows it', async () => {
    // An audit log of its own, because the test drops an index.
    await auditLog.dispose();
    auditLog = await createFilled();
    rows = await auditLog.rows();
    const index = await auditLog.database.transaction((tx) =>
      tx.one<{ name: string }>(
        tx.dialect.name === 'sqlite'
          ? sql`select "name" from sqlite_schema where "type" = 'index' and "tbl_name" = '_Decision' and "sql" like '%writer%'`
          : sql`select indexname as "name" from pg_indexes where schemaname = current_schema() and tablename = '_Decision' and indexdef like '%writer%'`,
      ),
    );
    await auditLog.tamper(sql`drop index ${sql.ref(index?.name ?? '')}`, copyOf(at(5), { sequence: 6, writer: at(5).writer }));
    expect(summary(await auditLog.verify())).toEqual([['inserted', 6, 'put']]);
  });

  it.each([
    [3, 8],
    [0, 11],
  ])('names two swapped entries: %i and %i', async (first, second) => {
    const [one, other] = [at(first), at(second)];
    await auditLog.tamper(...swapped(one, other));
    expect(summary(await auditLog.verify())).toEqual([
      ['reordered', one.sequence, other.id],
      ['reordered', other.sequence, one.id],
    ]);
  });
});

it('verification names one of two swapped neighbours, which has moved by one', async () => {
  await auditLog.tamper(...swapped(at(3), at(4)));
  expect(summary(await auditLog.verify())).toEqual([['reordered', 4, at(4).id]]);
});

it('verification names an entry that was moved over several others', async () => {
  const moved = at(2);
  const between = (from: number, to: number) => sql`"writer" = ${moved.writer} and "sequence" between ${from} and ${to}`;
  await auditLog.tamper(
    sql`update "_Decision" set "sequence" = 1000 where "id" = ${moved.id}`,
    sql`update "_Decision" set "sequence" = -"sequence" where ${between(4, 8)}`,
    sql`update "_Decision" set "sequence" = -"sequence" - 1 where ${between(-8, -4)}`,
    sql`update "_Decision" set "sequence" = 8 where "id" = ${moved.id}`,
  );
  const kinds = (await auditLog.verify()).breaks.map(({ kind, id }) => `${kind} ${id === moved.id ? 'moved' : ''}`);
  expect(kinds).toContain('reordered moved');
});

describe('verification of a chain', () => {
  it.each(['id', 'at', 'found', 'timeZone'])('finds another beginning of a chain: its %s', async (column) => {
    const change = column === 'at' ? '2020-01-01T00:00:00.000Z' : column === 'found' ? '[]' : 'zzz';
    await auditLog.tamper(sql`update "_Chain" set ${sql.ref(column)} = ${change} where "id" = ${at(-1).writer}`);
    const kinds = new Set((await auditLog.verify()).breaks.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(column === 'id' ? ['missing', 'truncated'] : ['edited']);
  });
});
