/** Sends requests of which only one may succeed to four replicas at the same time, repeatedly. */
import { createUser, expectDone, idOf, logIn, type Program, type Reply, send } from '../process/program.ts';
import { type Call, createFleetDatabase, EVERYTHING, type FleetDatabase } from './fleet.ts';

/** Number of responses by status. */
type Counted = Readonly<Record<number, number>>;

/** Number of migrations, and the responses to setup. */
export interface Started {
  readonly histories: number;
  readonly setUp: Counted;
}

/** Four replicas on their own schema. */
export interface Races {
  /** Starts all replicas at once on an empty schema, and sends concurrent setups. */
  start(): Promise<Started>;
  /** Runs every race in each round; returns the unexpected results. */
  run(rounds: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The current admin. */
interface Admin {
  readonly id: string;
  readonly token: string;
}

/** Prepares a schema on the server. */
export function createRaces(server: string): Races {
  const fleetDatabase = createFleetDatabase(server);
  let replicas: readonly Program[] = [];
  let admin: Admin = { id: '', token: '' };

  return {
    async start() {
      replicas = await Promise.all([1, 2, 3, 4].map(() => fleetDatabase.start()));
      const email = (index: number): string => `admin${index}@example.com`;
      const ask = ({ url }: Program, index: number): Promise<Reply> =>
        send(url, 'POST /auth/setup', { body: { email: email(index), password: 'correct horse battery', name: 'Admin' } });
      const replies = await atOnce(replicas, 12, ask);
      const winner = replies.findIndex(({ status }) => status === 201);
      const [made] = await fleetDatabase.query('SELECT "id" FROM "User"');
      admin = { id: String(made?.['id']), token: await logIn(replicas[0]?.url ?? '', email(winner)) };
      const histories = await fleetDatabase.query('SELECT 1 FROM "_Evolution"');
      return { histories: histories.length, setUp: counted(replies) };
    },
    async run(rounds) {
      const wrong: string[] = [];
      for (let round = 0; round < rounds; round++) {
        for (const [race, expected] of RACES) {
          const came = await race(replicas, { fleetDatabase, token: admin.token, round });
          if (!expected.includes(JSON.stringify(came))) wrong.push(`round ${round}: ${race.name} came to ${JSON.stringify(came)}`);
        }
        const left = await demoteEachOther(replicas, { fleetDatabase, admin, round });
        if (left === undefined) return [...wrong, `round ${round}: no admin is left`];
        admin = left;
      }
      return wrong;
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.stop('SIGKILL')));
      await fleetDatabase.close();
    },
  };
}

interface Race {
  readonly fleetDatabase: FleetDatabase;
  readonly token: string;
  readonly round: number;
}

/** The races with their possible results. */
const RACES: readonly (readonly [(replicas: readonly Program[], race: Race) => Promise<Counted>, readonly string[]])[] = [
  [createIfNotExists, ['{"200":11,"201":1}']],
  [takeUnique, ['{"201":1,"409":11}']],
  [assign, ['{"201":1,"409":11}']],
  [unassign, ['{"200":1,"404":11}']],
];

async function createIfNotExists(replicas: readonly Program[], { token, round }: Race): Promise<Counted> {
  const body = { filter: { text: `one of ${round}` }, data: { text: `one of ${round}` } };
  return counted(await atOnce(replicas, 12, ({ url }) => send(url, 'POST /api/Note/createIfNotExists', { token, body })));
}

async function takeUnique(replicas: readonly Program[], { token, round }: Race): Promise<Counted> {
  return counted(await atOnce(replicas, 12, ({ url }) => send(url, 'POST /api/Note', { token, body: { slug: `slug-${round}` } })));
}

async function assign(replicas: readonly Program[], { token, round }: Race): Promise<Counted> {
  const [first] = replicas as readonly [Program];
  const body = { name: nameOf(round), type: 'CUSTOM', rules: EVERYTHING };
  const id = idOf(await expectDone(send(first.url, 'POST /admin/api/policies', { token, body })));
  return counted(
    await atOnce(replicas, 12, ({ url }) => send(url, `POST /admin/api/policies/${id}/assign/role/viewer`, { token, body: {} })),
  );
}

async function unassign(replicas: readonly Program[], { fleetDatabase, token, round }: Race): Promise<Counted> {
  const [policy] = await fleetDatabase.query('SELECT "id" FROM "_Policy" WHERE "name" = $1', [nameOf(round)]);
  const call: Call = `DELETE /admin/api/policies/${policy?.['id']}/assign/role/viewer`;
  return counted(await atOnce(replicas, 12, ({ url }) => send(url, call, { token })));
}

function nameOf(round: number): string {
  return `of round ${round}`;
}

/** Lets two admins demote each other; returns the remaining admin, or undefined if none is left. */
async function demoteEachOther(
  replicas: readonly Program[],
  { fleetDatabase, admin, round }: { readonly fleetDatabase: FleetDatabase; readonly admin: Admin; readonly round: number },
): Promise<Admin | undefined> {
  const [one, two] = replicas as readonly [Program, Program];
  const email = `of-round-${round}@example.com`;
  const id = await createUser(one.url, admin.token, { email, role: 'admin' });
  const other = { id, token: await logIn(two.url, email) };
  await Promise.all([
    send(one.url, `PUT /api/User/${other.id}`, { token: admin.token, body: { role: 'user' } }),
    send(two.url, `PUT /api/User/${admin.id}`, { token: other.token, body: { isActive: false } }),
  ]);
  const left = await fleetDatabase.query(`SELECT "id" FROM "User" WHERE "role" = 'admin' AND "isActive"`);
  return [admin, other].find((each) => left.some((row) => row['id'] === each.id));
}

function atOnce(replicas: readonly Program[], times: number, ask: (replica: Program, index: number) => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => ask(replicas[index % replicas.length] as Program, index)));
}

function counted(replies: readonly Reply[]): Counted {
  const statuses = Map.groupBy(replies, ({ status }) => status);
  return Object.fromEntries([...statuses].map(([status, same]) => [status, same.length]));
}
