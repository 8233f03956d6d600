/**
 * Measures one, two and four replicas on one PostgreSQL: `node bench/replicas.ts`. Prints requests per second, entries per commit, and how
 * often a transaction ran again while a policy changed every 100 ms. Starts its own PostgreSQL. Replicas, server and load share the
 * machine, so more replicas are faster only if it has cores for them.
 */
import { availableParallelism, loadavg } from 'node:os';
import autocannon from 'autocannon';
import { startPostgres } from '../test/postgres/server.ts';
import { expectDone, idOf, type Program } from '../test/process/program.ts';
import { createNote, type Fleet, startFleet } from '../test/replicas/fleet.ts';

const SECONDS = Number(process.argv[2] ?? 5);
const CONNECTIONS = 64;
const CHANGE_EVERY = 100;

const server = await startPostgres();
print('cores', String(availableParallelism()));
try {
  for (const count of [1, 2, 4]) await measureFleet(count);
} finally {
  await server.stop();
}
process.exit(0);

async function measureFleet(count: number): Promise<void> {
  const fleet = await startFleet({ server: server.url, replicas: Array.from({ length: count }, () => ({})) });
  try {
    const user = await fleet.createUser('user');
    const policyId = await fleet.createPolicy();
    await expectDone(fleet.asAdmin(`POST /admin/api/policies/${policyId}/assign/user/${user.id}`, {}));
    const id = idOf(await createNote(fleet.any(), user.token));
    const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' };
    const read = { path: `/api/Note/${id}`, headers };
    await load(fleet.replicas, { ...read, duration: 2 });
    await measure(fleet, `${count}: read by id`, read);
    await measure(fleet, `${count}: create`, { path: '/api/Note', method: 'POST', headers, body: '{"text":"measured"}' });
    await whileChanging(fleet, policyId, () => measure(fleet, `${count}: read, policy changing`, read));
  } finally {
    await fleet.close();
  }
}

type Case = Omit<autocannon.Options, 'url'> & { readonly path: string };

async function measure(fleet: Fleet, name: string, asked: Case): Promise<void> {
  const before = await count(fleet);
  const { rate, failed } = await load(fleet.replicas, { ...asked, duration: SECONDS });
  const after = await count(fleet);
  const [entries, commits, undone] = [0, 1, 2].map((at) => (after[at] ?? 0) - (before[at] ?? 0)) as [number, number, number];
  const figures = [`${rate.toFixed(0)} requests/s`, `${(entries / commits).toFixed(1)} entries per commit`, `${undone} rolled back`];
  print(name, `${figures.join(', ')}, ${failed} failed, load ${loadavg()[0]?.toFixed(1)}`);
}

/** Counts audit entries, transactions that committed entries, and transactions that were rolled back, such as after a failed commit validation. */
async function count({ query }: Fleet): Promise<readonly number[]> {
  // PostgreSQL updates its statistics when its connections become idle.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const [row] = await query(`SELECT (SELECT count(*) FROM "_Decision") AS entries,
    (SELECT count(DISTINCT xmin::text) FROM "_Decision") AS commits,
    (SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()) AS undone`);
  return ['entries', 'commits', 'undone'].map((name) => Number(row?.[name]));
}

async function load(replicas: readonly Program[], { path, ...options }: Case): Promise<{ readonly rate: number; readonly failed: number }> {
  const connections = CONNECTIONS / replicas.length;
  const results = await Promise.all(replicas.map(({ url }) => autocannon({ ...options, url: `${url}${path}`, connections })));
  const sum = (of: (result: autocannon.Result) => number): number => results.reduce((all, result) => all + of(result), 0);
  return { rate: sum(({ requests }) => requests.average), failed: sum(({ non2xx, errors }) => non2xx + errors) };
}

async function whileChanging(fleet: Fleet, policyId: string, work: () => Promise<void>): Promise<void> {
  let goesOn = true;
  const changing = (async () => {
    for (let priority = 0; goesOn; priority = (priority + 1) % 100) {
      await fleet.asAdmin(`PUT /admin/api/policies/${policyId}`, { priority });
      await new Promise((resolve) => setTimeout(resolve, CHANGE_EVERY));
    }
  })();
  await work();
  goesOn = false;
  await changing;
}

function print(name: string, figures: string): void {
  process.stdout.write(`${name.padEnd(28)} ${figures}\n`);
}
