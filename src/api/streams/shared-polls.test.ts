import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, parsePositionText } from '../../audit/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Database } from '../../storage/index.ts';
import type { Auditor } from '../admission/auditor.ts';
import type { AdmittedRequest } from '../admission/index.ts';
import { appendEntries, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';
import { CAUGHT_UP, eventsOf, readUntil, toStreamRequest } from './decision-stream.fixture.ts';
import type { StreamRequest } from './decision-stream.ts';
import { createDecisionStreams, type DecisionStreams } from './decision-streams.ts';

let admin: TestAdmin;
const opened: DecisionStreams[] = [];
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterEach(() => {
  for (const streams of opened.splice(0)) streams.close();
});
afterAll(() => admin.pipeline.dispose());

const append = (entries: readonly Partial<AuditEntry>[]): Promise<readonly string[]> => appendEntries(admin, entries);

async function begin(streams: DecisionStreams, members: Partial<StreamRequest> = {}): Promise<AsyncIterator<string>> {
  const reader = streams.open(toStreamRequest(admin, members))[Symbol.asyncIterator]();
  await readUntil(reader, /id: /);
  return reader;
}

it('streams of one poll receive the events of their own filter and right', async () => {
  const streams = createDecisionStreams(admin.deps.database, { pollMilliseconds: 5, pingMilliseconds: 5 });
  opened.push(streams);
  const asAuditor = (where?: Sql): Partial<StreamRequest> => ({
    admitAgain: async (tx) => ({ ...((await toStreamRequest(admin).admitAgain(tx)) as AdmittedRequest), auditor: { where } as Auditor }),
  });
  const members: readonly Partial<StreamRequest>[] = [
    {},
    asAuditor(),
    asAuditor(sql`"recordId" = 'a2'`),
    { filter: { resource: 'Other' } },
    { filter: { resource: 'Article' } },
  ];
  const readers = await Promise.all(members.map((each) => begin(streams, each)));
  for (const reader of readers) await readUntil(reader, CAUGHT_UP);
  const facts = { 'user.id': 'ann' };
  await append([
    { recordId: 'a1', facts },
    { recordId: 'a2', facts },
    { resource: 'Other', recordId: 'o1' },
  ]);
  const received = await Promise.all(
    readers.map(async (reader, index) => eventsOf(await readUntil(reader, index === 3 ? /"o1"/ : /"a2"/), 'entry')),
  );
  expect(received.map((entries) => entries.map(({ recordId }) => recordId))).toEqual([
    ['a1', 'a2'],
    ['a1', 'a2'],
    ['a2'],
    ['o1'],
    ['a1', 'a2'],
  ]);
  expect(received.map(([entry]) => entry?.['facts'])).toEqual([facts, undefined, undefined, undefined, facts]);
});

/** Entries of a page. */
const PAGE = 50;
/** Rounds after which a stream must have joined the poll. Some are enough. */
const ROUNDS = 100;

describe('while entries are committed all the time', () => {
  interface Counted {
    readonly streams: DecisionStreams;
    /** The number of transactions in which streams have read by themselves. */
    count: number;
    /** Ids of the entries that were committed before each of them. */
    readonly ids: string[];
  }

  /** Creates streams. Before one of them reads by itself, more entries than a page has are committed. */
  function createCounted(): Counted {
    const { database } = admin.deps;
    const transaction: Database['transaction'] = async (work, how) => {
      if (how?.beginsLong === true) {
        counted.count++;
        counted.ids.push(...(await append(Array.from({ length: PAGE + 1 }, () => ({})))));
      }
      return database.transaction(work, how);
    };
    const streams = createDecisionStreams(Object.create(database, { transaction: { value: transaction } }), {
      // Between two polls, a stream that resumes can reach the position of the poll.
      pollMilliseconds: 1000,
      pageEntries: PAGE,
      queue: { events: 1_000_000, characters: 1e9 },
    });
    opened.push(streams);
    const counted: Counted = { streams, count: 0, ids: [] };
    return counted;
  }

  it('new streams begin with the poll, and read nothing by themselves', async () => {
    const counted = createCounted();
    const readers = [await begin(counted.streams), await begin(counted.streams)];
    const ids = await append([{}, {}, { recordId: 'the last' }]);
    const texts = await Promise.all(readers.map((reader) => readUntil(reader, /the last/)));
    // Each has read the end of the log.
    expect(counted.count).toBe(2);
    for (const text of texts)
      expect(
        eventsOf(text, 'entry')
          .slice(-3)
          .map(({ id }) => id),
      ).toEqual(ids);
  });

  it('a stream that resumes joins the poll when it has reached its position, without a loss or a repetition', async () => {
    const counted = createCounted();
    const live = counted.streams.open(toStreamRequest(admin))[Symbol.asyncIterator]();
    const [, position = ''] = /id: (\S+)/.exec(await readUntil(live, /id: /)) ?? [];
    counted.ids.length = 0;
    const expected = [...(await append(Array.from({ length: 2 * PAGE }, (_, index) => ({ recordId: `before ${index}` }))))];
    // The poll is ahead of the stream that resumes.
    await readUntil(live, /before 99/);
    const resumed = counted.streams
      .open(toStreamRequest(admin, { after: parsePositionText(position, Date.now()) }))
      [Symbol.asyncIterator]();
    let [text, reads] = ['', -1];
    for (let round = 0; round < ROUNDS && reads !== counted.count; round++) {
      reads = counted.count;
      expected.push(...(await append([{ recordId: `end of round ${round}` }])));
      while (!text.includes(`end of round ${round}"`)) text += await readUntil(resumed, /event: entry/);
    }
    expect(counted.count).toBe(reads);
    const received = eventsOf(text, 'entry').map(({ id }) => String(id));
    expect(received.toSorted()).toEqual([...expected, ...counted.ids].toSorted());
  });
});
