/** Replicas on one PostgreSQL: a reader that follows the audit log receives every entry once, although its replica and others are killed. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { type EventStream, openEventStream } from '../event-stream.ts';
import { pause } from '../process/program.ts';
import { createNote, type Fleet, type FleetUser, startFleet } from './fleet.ts';

const ROUNDS = casesOf(3);
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
    for (const { name, data } of stream?.events ?? []) {
      if (name === 'entry') reader.ids.push(String(data['id']));
      if (name === 'dropped') reader.dropped += Number(data['count']);
    }
    after = stream?.lastId() ?? after;
  }
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
    await pause(5);
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
  const last = String(
    stored
      .map(({ id }) => id)
      .sort()
      .at(-1),
  );
  const isReceived = (): boolean => reader.stream?.events.some(({ data }) => data['id'] === last) === true;
  for (let tries = 0; tries < 300 && !isReceived(); tries++) await pause(100);
  // Entries of other writers may arrive after it.
  await pause(1500);
  reader.isOver = true;
  await following;
  const expected = new Set(stored.map(({ id }) => String(id)));
  expect(expected.size).toBeGreaterThanOrEqual(ROUNDS * ENTRIES);
  expect(reader.ids.filter((id) => !expected.has(id))).toEqual([]);
  expect(new Set(reader.ids).size).toBe(reader.ids.length);
  expect(reader.ids.length + reader.dropped).toBe(expected.size);
});
