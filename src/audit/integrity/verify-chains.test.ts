import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { onPostgres } from '../../storage/storage.fixture.ts';
import { appendEntry, CONTENT } from '../index.ts';
import { openTestAuditLog, type StoredEntry, type TestAuditLog, type TestVerification, testEntry } from './integrity.fixture.ts';
import { type EntryPosition, verifyChains } from './verify-chains.ts';

let record: TestAuditLog;
let rows: readonly StoredEntry[];

beforeEach(async () => {
  record = await openTestAuditLog();
  await record.fill([12, 1, 9]);
  await record.checkpoint();
  rows = await record.rows();
});
afterEach(() => record.dispose());

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

describe('a record as it was written', () => {
  it('is whole', async () => {
    expect(await record.verify()).toMatchObject({ entries: 22, chains: 3, notChained: 0, breaks: [], checkpoints: { lines: 1 } });
  });

  it('is whole while others go on', async () => {
    await record.fill([5, 3]);
    expect(summary(await record.verify())).toEqual([]);
  });

  it('says how many entries are from before there were chains', async () => {
    await record.tamper(
      sql`insert into "_Decision" ("id", "at", "kind", "allowed") values ('old', '2020-01-01T00:00:00.000Z', 'access', ${true})`,
    );
    expect(await record.verify()).toMatchObject({ notChained: 1, breaks: [] });
  });
});

it('in pages of any size, the same is found', async () => {
  await record.tamper(
    sql`update "_Decision" set "reason" = 'another' where "id" = ${at(5).id}`,
    sql`delete from "_Decision" where "id" = ${at(16).id}`,
  );
  for (const limit of [1, 2, 3, 7, 100]) {
    const found: unknown[] = [];
    let entries = 0;
    for (let from: EntryPosition | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
      const page = await verifyChains({
        transaction: (work) => record.database.transaction(work),
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

describe('of an entry', () => {
  const edits = new Map<string, unknown>([
    ['at', '2020-01-01T00:00:00.000Z'],
    ['kind', 'other'],
    ['epoch', 999],
    ['allowed', true],
    ['facts', '{"changed":1}'],
  ]);

  it.each(CONTENT)('a change of its %s is found, wherever it stands, and that it was taken away', async (column) => {
    for (const index of [0, 5, 11, 12, -1]) {
      const { id, sequence } = at(index);
      const before = at(index)[column] ?? null;
      const change = column === 'allowed' ? before !== 1 : (edits.get(column) ?? 'changed');
      await record.tamper(sql`update "_Decision" set ${sql.ref(column)} = ${change} where "id" = ${id}`);
      expect(summary(await record.verify()), `entry ${index}`).toEqual([['edited', sequence, column === 'id' ? 'changed' : id]]);
      const back = column === 'allowed' ? before === 1 : before;
      await record.tamper(sql`update "_Decision" set ${sql.ref(column)} = ${back} where "id" = ${column === 'id' ? 'changed' : id}`);
      if (before === null || ['id', 'at', 'kind', 'allowed'].includes(column)) continue;
      await record.tamper(sql`update "_Decision" set ${sql.ref(column)} = null where "id" = ${id}`);
      expect(summary(await record.verify())).toEqual([['edited', sequence, id]]);
      await record.tamper(sql`update "_Decision" set ${sql.ref(column)} = ${before} where "id" = ${id}`);
    }
    expect(summary(await record.verify())).toEqual([]);
  });

  it('another hash is found', async () => {
    for (const index of [0, 5, -1]) {
      const { id, sequence, hash } = at(index);
      await record.tamper(sql`update "_Decision" set "hash" = 'other' where "id" = ${id}`);
      expect(summary(await record.verify())).toEqual([['edited', sequence, id]]);
      await record.tamper(sql`update "_Decision" set "hash" = ${hash} where "id" = ${id}`);
    }
  });

  it('another place is found', async () => {
    const { id } = at(5);
    await record.tamper(sql`update "_Decision" set "sequence" = 40 where "id" = ${id}`);
    expect(summary(await record.verify())).toEqual([
      ['missing', 6],
      ['missing', 13],
      ['reordered', 40, id],
    ]);
  });

  it.each([null, 0, -3])('no place is found: %s', async (sequence) => {
    const { id } = at(5);
    await record.tamper(sql`update "_Decision" set "sequence" = ${sequence} where "id" = ${id}`);
    expect(summary(await record.verify())).toEqual([
      ['inserted', undefined, id],
      ['missing', 6],
    ]);
  });

  it('another chain is found, one that is not there too, and none', async () => {
    const { id, writer } = at(5);
    for (const other of ['none', at(-1).writer]) {
      await record.tamper(sql`update "_Decision" set "writer" = ${other}, "sequence" = 10 where "id" = ${id}`);
      const kinds = (await record.verify()).breaks.map(({ kind, writer: where }) => `${kind} ${where === writer ? 'here' : 'there'}`);
      expect(kinds).toContain('missing here');
      expect(kinds.some((kind) => kind.endsWith('there'))).toBe(true);
      await record.tamper(sql`update "_Decision" set "writer" = ${writer}, "sequence" = 6 where "id" = ${id}`);
    }
    await record.tamper(sql`update "_Decision" set "writer" = null where "id" = ${id}`);
    expect(summary(await record.verify())).toEqual([
      ['inserted', undefined, id],
      ['missing', 6],
    ]);
  });
});

describe('of entries', () => {
  it('one or several that are deleted are missing', async () => {
    for (const entry of [at(5), at(0), at(6), at(7)]) await record.tamper(sql`delete from "_Decision" where "id" = ${entry.id}`);
    expect((await record.verify()).breaks.map(({ detail }) => detail)).toEqual([
      'entry 1 is missing',
      'entries 6 to 8 are missing, 3 of them',
    ]);
  });

  it('one that is deleted and hidden by moving up those behind is noticed', async () => {
    const [gone, next] = [at(5), at(6)];
    await record.tamper(sql`delete from "_Decision" where "id" = ${gone.id}`, ...shift(gone, -1));
    expect(summary(await record.verify())).toEqual([
      ['edited', 6, next.id],
      ['truncated', 12],
    ]);
  });

  it('the last ones are missed by the checkpoint, and by those who began later', async () => {
    const { writer } = at(0);
    await record.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" > 10`);
    const [found, ...others] = (await record.verify()).breaks;
    expect(others).toEqual([]);
    expect(found?.detail).toMatch(/^the chain ends with entry 10, and the checkpoint of \S+ knows entry 12: 2 are missing$/);
  });

  it('a whole chain is missed, with and without its beginning', async () => {
    const { writer } = at(0);
    await record.tamper(sql`delete from "_Decision" where "writer" = ${writer}`);
    expect(summary(await record.verify())).toEqual([['truncated', 1]]);
    await record.tamper(sql`delete from "_Chain" where "id" = ${writer}`);
    expect(summary(await record.verify())).toEqual([['truncated', 1]]);
  });

  it('one that is put between others is found', async () => {
    const before = at(5);
    await record.tamper(...shift(before, 1), copyOf(before, { sequence: 7, writer: before.writer }));
    expect(summary(await record.verify())).toEqual([['inserted', 7, 'put']]);
  });

  it('one that is put at an end is found, and one that is put in no chain', async () => {
    await record.tamper(copyOf(at(11), { sequence: 13, writer: at(11).writer }));
    expect(summary(await record.verify())).toEqual([['edited', 13, 'put']]);
    await record.tamper(sql`delete from "_Decision" where "id" = 'put'`, copyOf(at(11), { sequence: 1, writer: null }));
    expect(summary(await record.verify())).toEqual([['inserted', undefined, 'put']]);
  });

  it('one that is put in a chain of whatever name is found', async () => {
    // UTF-8, as databases compare it, and UTF-16, as we do, have the last two in different orders.
    for (const writer of ['', ' ', '\ufffd', '\u{10000}']) {
      await record.tamper(copyOf(at(11), { sequence: 1, writer }));
      expect(summary(await record.verify()), JSON.stringify(writer)).toEqual([['missing', 1]]);
      await record.tamper(sql`delete from "_Decision" where "id" = 'put'`);
    }
    await record.tamper(
      sql`insert into "_Chain" ("id", "at", "found") values (${'\u{10000}'}, '2027-01-01T00:00:00.000Z', '[]')`,
      copyOf(at(11), { sequence: 1, writer: '\ufffd' }),
    );
    expect(summary(await record.verify())).toEqual([
      ['missing', 1],
      ['truncated', 1],
    ]);
  });

  it('one that is put in the place of another is found, where that may be', async () => {
    const index = await record.database.transaction((tx) =>
      tx.one<{ name: string }>(
        tx.dialect.name === 'sqlite'
          ? sql`select "name" from sqlite_schema where "type" = 'index' and "tbl_name" = '_Decision' and "sql" like '%writer%'`
          : sql`select indexname as "name" from pg_indexes where schemaname = current_schema() and tablename = '_Decision' and indexdef like '%writer%'`,
      ),
    );
    await record.tamper(sql`drop index ${sql.ref(index?.name ?? '')}`, copyOf(at(5), { sequence: 6, writer: at(5).writer }));
    expect(summary(await record.verify())).toEqual([['inserted', 6, 'put']]);
  });

  it.each([
    [3, 8],
    [0, 11],
  ])('two that change places are named: %i and %i', async (first, second) => {
    const [one, other] = [at(first), at(second)];
    await record.tamper(...swapped(one, other));
    expect(summary(await record.verify())).toEqual([
      ['reordered', one.sequence, other.id],
      ['reordered', other.sequence, one.id],
    ]);
  });
});

it('of two neighbours that change places one is named: it has moved by one', async () => {
  await record.tamper(...swapped(at(3), at(4)));
  expect(summary(await record.verify())).toEqual([['reordered', 4, at(4).id]]);
});

it('of entries one that moves further, those between following, is named', async () => {
  const moved = at(2);
  const between = (from: number, to: number) => sql`"writer" = ${moved.writer} and "sequence" between ${from} and ${to}`;
  await record.tamper(
    sql`update "_Decision" set "sequence" = 1000 where "id" = ${moved.id}`,
    sql`update "_Decision" set "sequence" = -"sequence" where ${between(4, 8)}`,
    sql`update "_Decision" set "sequence" = -"sequence" - 1 where ${between(-8, -4)}`,
    sql`update "_Decision" set "sequence" = 8 where "id" = ${moved.id}`,
  );
  const kinds = (await record.verify()).breaks.map(({ kind, id }) => `${kind} ${id === moved.id ? 'moved' : ''}`);
  expect(kinds).toContain('reordered moved');
});

it('one that is put where the next of a running service belongs ends its chain, and it goes on in another', async () => {
  const append = (number: number) => record.database.transaction((tx) => appendEntry(tx, testEntry(number)));
  await append(1);
  const last = (await record.rows()).at(-1) as StoredEntry;
  await record.tamper(copyOf(last, { sequence: last.sequence + 1, writer: last.writer }));
  if (onPostgres) {
    // Two of other times are unique to the index over partitions: the chain goes on, and what was put there stands beside its entry.
    await append(2);
    expect(summary(await record.verify())).toEqual([['inserted', 2, 'put']]);
    return;
  }
  await expect(append(2)).rejects.toThrow();
  await append(3);
  expect(summary(await record.verify())).toEqual([['edited', 2, 'put']]);
});

describe('of a chain', () => {
  it.each(['id', 'at', 'found'])('another beginning is found: its %s', async (column) => {
    const change = column === 'at' ? '2020-01-01T00:00:00.000Z' : column === 'found' ? '[]' : 'zzz';
    await record.tamper(sql`update "_Chain" set ${sql.ref(column)} = ${change} where "id" = ${at(-1).writer}`);
    const kinds = new Set((await record.verify()).breaks.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(column === 'id' ? ['missing', 'truncated'] : ['edited']);
  });
});
