/** Replicas on one PostgreSQL: a reader that follows the audit log receives every entry once, although its replica and others are killed. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { type EventStream, openEventStream } from '../event-stream.ts';
import { pause } from '../process/program.ts';
import { createNote, type Fleet, type FleetUser, startFleet } from './fleet.ts';

const ROUNDS = casesOf(2);
const CLIENTS = 6;
/** Entries between two kills. */
const ENTRIES = 60;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet({ server: inject('postgres') ?? '', replicas: [{}, {}] });
}, 120_000);
afterAll(() => fleet?.close());

/** The entries that a reader has received over all of its connections. */
interface Reader {
  readonly ids: string[];
  dropped: number;
  isOver: boolean;
  /** The present connection. */
  stream?: EventStream | undefined;
}

/** Follows the log, and connects to any replica again after the last received event. */
async function follow(reader: Reader, onBegun: () => void): Promise<void> {
  let after: string | undefined;
  while (!reader.isOver) {
    let stream: EventStream | undefined;
    try {
      stream = await openEventStream(`${fleet.any().url}/admin/api/decisions/stream?resource=Note`, {
        authorization: `Bearer ${fleet.admin}`,
        ...(after !== undefined && { 'last-event-id': after }),
      });
      reader.stream = stream;
      while (stream.lastId() === undefined && after === undefined) await pause(5);
      onBegun();
      while (!reader.isOver && !stream.response.destroyed) await pause(10);
    } catch {
      // The replica is gone; another one takes over.
      await pause(10);
    }
    stream?.close();
    const { ids, dropped } = contentOf(stream);
    reader.ids.push(...ids);
    reader.dropped += dropped;
    reader.stream = undefined;
    after = stream?.lastId() ?? after;
  }
}

/** Returns the ids of the entries that a connection has received, and the number of those that were dropped. */
function contentOf(stream: EventStream | undefined): { readonly ids: readonly string[]; readonly dropped: number } {
  const events = stream?.events ?? [];
  const dropped = events.filter(({ name }) => name === 'dropped').reduce((sum, { data }) => sum + Number(data['count']), 0);
  return { ids: events.filter(({ name }) => name === 'entry').map(({ data }) => String(data['id'])), dropped };
}

/** Creates notes until `load.isOver`, also while replicas are gone. */
async function write(user: FleetUser, load: { isOver: boolean; answered: number }): Promise<void> {
  while (!load.isOver) {
    try {
      await createNote(fleet.any(), user.token);
      load.answered++;
    } catch {
      // The replica is gone.
    }
    // Leaves processor time to the replica that starts.
    await pause(20);
  }
}

it('a reader receives each entry once, or its number as dropped, while replicas are killed', async () => {
  const user = await fleet.createUser('user');
  const policy = await fleet.createPolicy();
  await fleet.asAdmin(`POST /admin/api/policies/${policy}/assign/user/${user.id}`, {});
  const reader: Reader = { ids: [], dropped: 0, isOver: false };
  const begun = Promise.withResolvers<void>();
  const following = follow(reader, begun.resolve);
  await begun.promise;
  const load = { isOver: false, answered: 0 };
  const clients = Array.from({ length: CLIENTS }, () => write(user, load));
  for (let round = 0; round < ROUNDS; round++) {
    const enough = load.answered + ENTRIES;
    while (load.answered < enough) await pause(5);
    await fleet.replicas[round % 2]?.stop('SIGKILL');
    await fleet.start(round % 2);
  }
  load.isOver = true;
  await Promise.all(clients);
  const stored = await fleet.query(`SELECT "id" FROM "_Decision" WHERE "resource" = 'Note'`);
  const received = (): number => {
    const { ids, dropped } = contentOf(reader.stream);
    return reader.ids.length + reader.dropped + ids.length + dropped;
  };
  await expect.poll(received).toBeGreaterThanOrEqual(stored.length);
  // An entry that is sent twice would arrive now.
  await pause(200);
  reader.isOver = true;
  await following;
  const expected = new Set(stored.map(({ id }) => String(id)));
  expect(expected.size).toBeGreaterThanOrEqual(ROUNDS * ENTRIES);
  expect(reader.ids.filter((id) => !expected.has(id))).toEqual([]);
  expect(new Set(reader.ids).size).toBe(reader.ids.length);
  expect(reader.ids.length + reader.dropped).toBe(expected.size);
});
