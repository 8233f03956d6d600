import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEntry, parsePositionText } from '../../audit/index.ts';
import { Problem } from '../../errors.ts';
import { appendEntries, openAdmin, type TestAdmin } from '../endpoint.fixture.ts';
import { CAUGHT_UP, eventsOf, readUntil, toStreamRequest } from './decision-stream.fixture.ts';
import type { StreamRequest } from './decision-stream.ts';
import { createDecisionStreams, type DecisionStreams, type StreamsOptions } from './decision-streams.ts';
import { EventQueue } from './event-queue.ts';

let admin: TestAdmin;
const opened: DecisionStreams[] = [];
beforeAll(async () => {
  admin = await openAdmin({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
});
afterEach(() => {
  for (const streams of opened.splice(0)) streams.close();
});
afterAll(() => admin.pipeline.dispose());

function createStreams(options: Partial<StreamsOptions> = {}): DecisionStreams {
  const streams = createDecisionStreams(admin.deps.database, { pollMilliseconds: 5, ...options });
  opened.push(streams);
  return streams;
}

const toRequest = (members: Partial<StreamRequest> = {}): StreamRequest => toStreamRequest(admin, members);

const append = (entries: readonly Partial<AuditEntry>[]): Promise<readonly string[]> => appendEntries(admin, entries);

async function begin(streams: DecisionStreams, members: Partial<StreamRequest> = {}): Promise<AsyncIterator<string>> {
  const reader = streams.open(toRequest(members))[Symbol.asyncIterator]();
  await readUntil(reader, /id: /);
  return reader;
}

const withoutPings = (text: string): string => text.replaceAll(/: ping\n(?:id: .*\n)?\n/g, '');

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((done) => setTimeout(done, 1));
}

describe('a reader that does not keep up', () => {
  it.each([
    { events: 10, characters: 1_000_000 },
    { events: 1000, characters: 5000 },
  ])('receives the exact number of dropped entries, and later entries again: $events events, $characters characters', async (queue) => {
    const streams = createStreams({ queue, pingMilliseconds: 5 });
    const reader = await begin(streams);
    await readUntil(reader, CAUGHT_UP);
    const ids = await append(Array.from({ length: 400 }, () => ({})));
    await until(() => streams.metrics.dropped > 0);
    // The first page is 250 entries.
    const kept = [250, 400].map((count) => count - streams.metrics.dropped).find((count) => count >= 0) ?? 0;
    const late = await append(Array.from({ length: 5 }, () => ({})));
    await until(() => streams.metrics.dropped === 405 - kept);
    const text = await readUntil(reader, /event: dropped/);
    const received = eventsOf(text, 'entry').map(({ id }) => id);
    const [dropped] = eventsOf(text, 'dropped');
    expect(kept).toBeLessThanOrEqual(20);
    expect(received).toEqual([...ids, ...late].slice(0, kept));
    expect(dropped).toEqual({ count: 405 - kept });
    const [next] = await append([{}]);
    expect(eventsOf(await readUntil(reader, /event: entry/), 'entry')).toMatchObject([{ id: next }]);
  });

  it('receives the number of dropped entries without a later event, if it has received everything before', async () => {
    const queue = new EventQueue({ events: 1, characters: 1000 }, { dropped: () => undefined, closed: () => undefined });
    const read = queue.next();
    queue.add({ text: 'two entries', events: 2, id: 'b' });
    expect(await read).toEqual({ done: false, value: 'id: b\nevent: dropped\ndata: {"count":2}\n\n' });
  });

  it('receives entries from the log, and drops none, while it catches up', async () => {
    const streams = createStreams({ queue: { events: 10, characters: 10_000 }, pageEntries: 50 });
    const reader = streams.open(toRequest())[Symbol.asyncIterator]();
    const [, position = ''] = /id: (\S+)/.exec(await readUntil(reader, /id: /)) ?? [];
    await reader.return?.();
    const ids = await append(Array.from({ length: 700 }, (_, index) => ({ requestId: `bulk ${index}` })));
    const resumed = streams.open(toRequest({ after: parsePositionText(position, Date.now()) }))[Symbol.asyncIterator]();
    const received = eventsOf(await readUntil(resumed, /bulk 699/), 'entry').map(({ id }) => id);
    expect(received).toEqual(ids);
    expect(streams.metrics.dropped).toBe(0);
  });
});

describe('the end of a stream', () => {
  it('drops the entries that wait for a reader whose right was revoked, and reports their number', async () => {
    let isRevoked = false;
    const streams = createStreams({ pingMilliseconds: 5 });
    const { admitAgain } = toRequest();
    const reader = await begin(streams, {
      admitAgain: async (tx) => (isRevoked ? new Problem('ACCESS_DENIED', 'the right was revoked') : admitAgain(tx)),
    });
    const other = await begin(streams);
    for (const each of [reader, other]) await readUntil(each, CAUGHT_UP);
    await append([{}, {}, { recordId: 'last' }]);
    // One poll delivers the entries to both readers.
    await readUntil(other, /last/);
    isRevoked = true;
    await until(() => streams.metrics.dropped === 3);
    const text = withoutPings(await readUntil(reader, /event: end/));
    expect(text).toBe('event: dropped\ndata: {"count":3}\n\nevent: end\ndata: {"reason":"revoked","detail":"the right was revoked"}\n\n');
    expect(await reader.next()).toMatchObject({ done: true });
    expect(streams.metrics.open).toBe(1);
  });

  const refusals: readonly (readonly [string, string, Partial<StreamRequest>])[] = [
    ['right was revoked', 'revoked', { admitAgain: async () => new Problem('ACCESS_DENIED', 'the right was revoked') }],
    ['session has ended', 'signedOut', { admitAgain: () => Promise.reject(new Problem('IDENTITY_TOKEN', 'the session has ended')) }],
    ['token has expired', 'expired', { verifyToken: () => Promise.reject(new Problem('IDENTITY_TOKEN_EXPIRED', 'the token has expired')) }],
    ['duration is over', 'duration', { seconds: 0 }],
  ];
  it.each(refusals)('comes to a reader who does not read while the stream catches up: the %s', async (_, reason, later) => {
    const streams = createStreams({ pageEntries: 5, pingMilliseconds: 5 });
    const first = streams.open(toRequest())[Symbol.asyncIterator]();
    const [, position = ''] = /id: (\S+)/.exec(await readUntil(first, /id: /)) ?? [];
    await first.return?.();
    await append(Array.from({ length: 20 }, () => ({})));
    let current = toRequest();
    let checks = 0;
    const reader = streams
      .open({
        ...current,
        after: parsePositionText(position, Date.now()),
        get seconds() {
          return current.seconds;
        },
        verifyToken: () => {
          checks++;
          return current.verifyToken();
        },
        admitAgain: (tx) => current.admitAgain(tx),
      })
      [Symbol.asyncIterator]();
    await readUntil(reader, /event: entry/);
    current = { ...current, ...later };
    checks = 0;
    // Nothing is read meanwhile.
    await until(() => checks > 0);
    const rest = await readUntil(reader, /event: end/);
    expect(eventsOf(rest, 'end')).toMatchObject([{ reason }]);
  });

  it.each([
    ['expired', { verifyToken: () => Promise.reject(new Problem('IDENTITY_TOKEN_EXPIRED', 'the token has expired')) }],
    ['signedOut', { admitAgain: () => Promise.reject(new Problem('IDENTITY_TOKEN', 'the session has ended')) }],
  ] as const)('comes after the entry of the refused token is committed: %s', async (reason, later) => {
    let current = toRequest();
    const { promise: isRecorded, resolve: finishRecording } = Promise.withResolvers<void>();
    const recorded: Problem[] = [];
    const streams = createStreams();
    const reader = await begin(streams, {
      verifyToken: () => current.verifyToken(),
      admitAgain: (tx) => current.admitAgain(tx),
      recordRefusedToken: (problem) => {
        recorded.push(problem);
        return isRecorded;
      },
    });
    current = { ...current, ...later };
    let hasEnded = false;
    const ended = readUntil(reader, /event: end/).finally(() => {
      hasEnded = true;
    });
    await until(() => recorded.length > 0);
    // An end that did not wait would have been read by now.
    await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
    finishRecording();
    expect(eventsOf(await ended, 'end')).toMatchObject([{ reason }]);
    expect(recorded).toHaveLength(1);
  });

  it('comes without an entry for a revoked right, and says so if the entry of a refused token cannot be committed', async () => {
    const recordRefusedToken = () => Promise.reject(new Problem('STORAGE_UNAVAILABLE', 'the database does not answer'));
    const streams = createStreams();
    const revoked = { admitAgain: async () => new Problem('ACCESS_DENIED', 'the right was revoked'), recordRefusedToken };
    const [first, second] = [
      revoked,
      { verifyToken: () => Promise.reject(new Problem('IDENTITY_TOKEN_EXPIRED', 'late')), recordRefusedToken },
    ].map((members) => streams.open(toRequest(members))[Symbol.asyncIterator]());
    expect(eventsOf(await readUntil(first as AsyncIterator<string>, /event: end/), 'end')).toMatchObject([{ reason: 'revoked' }]);
    const end = { reason: 'unavailable', detail: 'the database does not answer' };
    expect(eventsOf(await readUntil(second as AsyncIterator<string>, /event: end/), 'end')).toEqual([end]);
  });

  it('comes to a reader whose user is damaged, and not to the others', async () => {
    const streams = createStreams();
    const damaged = new Problem('STORAGE_DAMAGED', 'a User record is damaged');
    let isDamaged = false;
    const { admitAgain } = toRequest();
    const reader = await begin(streams, { admitAgain: (tx) => (isDamaged ? Promise.reject(damaged) : admitAgain(tx)) });
    const other = await begin(streams);
    isDamaged = true;
    await append([{ recordId: 'last' }]);
    await readUntil(other, /last/);
    expect(eventsOf(await readUntil(reader, /event: end/), 'end')).toEqual([{ reason: 'unavailable', detail: damaged.detail }]);
    expect(await reader.next()).toMatchObject({ done: true });
    expect(streams.metrics.open).toBe(1);
  });

  it('frees the stream at once when the client disconnects', async () => {
    const streams = createStreams();
    const reader = await begin(streams);
    const pending = reader.next();
    expect(streams.metrics.open).toBe(1);
    await reader.return?.();
    expect(await pending).toMatchObject({ done: true });
    expect(streams.metrics.open).toBe(0);
  });

  it('comes at once if the process has too many streams, or is shutting down', async () => {
    const streams = createStreams({ maxStreams: 1 });
    await begin(streams);
    expect(() => streams.requireFree('other')).toThrow(/1 open streams/);
    const second = streams.open(toRequest({ userId: 'other' }))[Symbol.asyncIterator]();
    expect(await readUntil(second, /event: end/)).toContain('"reason":"tooMany"');
    streams.close();
    expect(() => streams.requireFree('other')).toThrow(/shutting down/);
    const third = streams.open(toRequest())[Symbol.asyncIterator]();
    expect(await readUntil(third, /event: end/)).toContain('"reason":"shutdown"');
  });

  it('comes after several failed polls', async () => {
    const streams = createStreams();
    let isBroken = false;
    const { admitAgain } = toRequest();
    const reader = await begin(streams, {
      admitAgain: (tx) => {
        if (isBroken) throw new Problem('STORAGE_UNAVAILABLE', 'the database does not answer');
        return admitAgain(tx);
      },
    });
    isBroken = true;
    expect(await readUntil(reader, /event: end/)).toContain('"reason":"unavailable","detail":"the database does not answer"');
  });
});

describe('the text of a stream', () => {
  it('contains no event that the text of an entry forges', async () => {
    const reader = await begin(createStreams());
    const hostile = 'x\n\nevent: end\ndata: {"reason":"revoked"}\r\n\r\nid: 1\u2028\u0085';
    await append([{ reason: hostile, ip: hostile, userId: hostile, requestId: hostile, recordId: 'hostile' }]);
    const text = await readUntil(reader, /event: entry/);
    expect(text.split(/\r\n|\r|\n/).filter((line) => line.startsWith('event:'))).toEqual(['event: entry']);
    expect(eventsOf(text, 'entry')).toMatchObject([{ reason: hostile, ip: hostile, userId: hostile }]);
  });

  it('contains pings with the position, also if no entry matches', async () => {
    const reader = await begin(createStreams({ pingMilliseconds: 30 }));
    await append([{ resource: 'Other' }]);
    const text = await readUntil(reader, /(: ping\nid: \S+\n\n[\s\S]*){3}/);
    expect(text).not.toContain('event:');
  });
});
