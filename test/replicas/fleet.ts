/**
 * Replicas on one PostgreSQL, each in its own process, with users and policies. Checks query the database directly with a
 * separate driver, and not through the program.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import pg from 'pg';
import { withSchema } from '../postgres/test-database.ts';
import {
  createUser,
  type Ended,
  expectDone,
  idOf,
  type Program,
  type Reply,
  runProgram,
  type Start,
  send,
  setUp,
  startProgram,
} from '../process/program.ts';
import { runCommand } from '../process/run-command.ts';

/** Running replicas, with helpers for requests and queries. */
export interface Fleet {
  /** The running replicas by number. A restarted replica keeps its number and has another address. */
  readonly replicas: readonly Program[];
  readonly admin: string;
  /** Returns a random replica. */
  any(): Program;
  /** Restarts the replica with this number, or starts one more. */
  start(index: number, how?: ReplicaOptions): Promise<Program>;
  /** Sends a request as admin to a random replica; throws unless it succeeds. */
  asAdmin(call: Call, body?: unknown, requestId?: string): Promise<Reply>;
  /** Creates a user with a token. */
  createUser(role: string): Promise<FleetUser>;
  /** Opens a session of a user; returns its token. */
  logIn(id: string): Promise<string>;
  /** Creates a policy with these rules, by default with all actions on notes; returns its id. */
  createPolicy(rules?: readonly object[]): Promise<string>;
  /** Queries the server directly. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Writes another definition of notes. The next replica that starts migrates the tables. */
  define(definition: string): void;
  /** Runs a CLI command on the database of the fleet. */
  run(command: readonly string[], server?: string): Promise<Ended>;
  /** Runs `decisions verify` in this process. */
  verify(): Promise<Ended>;
  close(): Promise<void>;
}

/** Method and path, such as `GET /api/Note`. */
export type Call = Parameters<typeof send>[1];
/** A row of a query result. */
export type Row = Readonly<Record<string, unknown>>;

/** A user whose requests are checked. */
export interface FleetUser {
  readonly id: string;
  readonly email: string;
  /** Replaced after a new login. */
  token: string;
}

/** Options of a replica. */
export interface ReplicaOptions extends Pick<Start, 'args' | 'env' | 'preload'> {
  /** Another address of the server, such as that of a proxy. */
  readonly server?: string;
}

/** Options of a fleet. */
export interface FleetOptions {
  /** Address of the PostgreSQL server, on which the fleet has its own schema. */
  readonly server: string;
  /** Options of each replica. */
  readonly replicas: readonly ReplicaOptions[];
}

/** The definition of Note, which requests under load create. */
export const NOTE = 'name: Note\nfields:\n  text: { type: string }\n  slug: { type: string, unique: true }\n';
/** Memberships, on which conditions can depend, the teams and folders that they lead to, and posts, which only lists of a membership read. */
const OTHERS = {
  Membership: `name: Membership
softDelete: true
fields:
  userId: { type: reference, to: User, onDelete: restrict }
  level: { type: string }
  expiresAt: { type: timestamp }
  teamIds: { type: list, of: { type: reference, to: Team } }
  folderId: { type: reference, to: Folder, onDelete: restrict }
indexes:
  - { fields: [userId, level] }
`,
  Post: 'name: Post\nfields:\n  text: { type: string }\n',
  Team: 'name: Team\nfields:\n  name: { type: string }\n',
  Folder:
    'name: Folder\nfields:\n  name: { type: string }\n  parentId: { type: reference, to: Folder, onDelete: restrict, hierarchy: true }\n',
};
/** The signing secret, which tests use for their own tokens. */
const SECRET = 'one secret for all the replicas of a test';
/** Rules that allow all actions on notes. */
export const EVERYTHING: readonly object[] = [{ resource: 'Note', action: '*' }];

/** Starts all replicas at once on an empty schema, and creates an admin. */
export async function startFleet({ server, replicas: wanted }: FleetOptions): Promise<Fleet> {
  const fleetDatabase = createFleetDatabase(server);
  const [first, ...others] = await Promise.all(wanted.map((how) => fleetDatabase.start(how)));
  if (first === undefined) throw new Error('a fleet has one replica at least');
  const running: Program[] = [first, ...others];
  await setUp(first.url);
  const [made] = await fleetDatabase.query(`SELECT "id" FROM "User"`);
  const logIn = (id: string): Promise<string> => openSession(fleetDatabase, id);
  const admin = await logIn(String(made?.['id']));
  let turn = 0;
  const any = (): Program => running[turn++ % running.length] ?? first;
  const asAdmin: Fleet['asAdmin'] = (call, body, requestId) =>
    expectDone(send(any().url, call, { token: admin, body, ...(requestId !== undefined && { requestId }) }));
  return {
    replicas: running,
    admin,
    any,
    asAdmin,
    async start(index, how = wanted[index]) {
      const started = await fleetDatabase.start(how);
      running[index] = started;
      return started;
    },
    logIn,
    async createUser(role) {
      const email = `${role}-${randomBytes(4).toString('hex')}@example.com`;
      const id = await createUser(any().url, admin, { email, role });
      return { id, email, token: await logIn(id) };
    },
    async createPolicy(rules = EVERYTHING) {
      const body = { name: `policy ${randomBytes(4).toString('hex')}`, type: 'CUSTOM', rules };
      return idOf(await asAdmin('POST /admin/api/policies', body));
    },
    query: fleetDatabase.query,
    define: fleetDatabase.define,
    run: fleetDatabase.run,
    // Signed here, because the tokens of replicas expire too early for these tests.
    verify: () => runCommand(fleetDatabase.withPlace(['decisions', 'verify', '--checkpoints', 'off'])),
    async close() {
      await Promise.all(running.map((replica) => replica.stop('SIGKILL')));
      await fleetDatabase.close();
    },
  };
}

/** Creates a note. The slug is also the request id, by which the entry of the creation is found. */
export function createNote({ url }: Program, token: string): Promise<Reply> {
  const slug = randomBytes(8).toString('hex');
  return send(url, 'POST /api/Note', { token, body: { slug }, requestId: slug });
}

const DAY = 86_400_000;

/** Inserts a session by SQL and signs its token. Both are valid for days, so they do not depend on clocks. */
async function openSession({ query }: Pick<FleetDatabase, 'query'>, userId: string): Promise<string> {
  const now = Date.now();
  const sessionId = randomUUID();
  const expires = now + 30 * DAY;
  const times = [now - DAY, expires].map((time) => new Date(time).toISOString());
  await query('INSERT INTO "_Session" ("id", "userId", "createdAt", "expiresAt") VALUES ($1, $2, $3, $4)', [sessionId, userId, ...times]);
  return new SignJWT({ sid: sessionId, role: 'user' })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer('bailiwick')
    .setAudience('bailiwick')
    .setSubject(userId)
    .setIssuedAt(Math.floor((now - DAY) / 1000))
    .setExpirationTime(Math.floor(expires / 1000))
    .sign(new TextEncoder().encode(SECRET));
}

/** The project folder and the schema of a fleet. */
export interface FleetDatabase {
  /** The project folder, which contains `resources/`. */
  readonly project: string;
  start(how?: ReplicaOptions): Promise<Program>;
  query: Fleet['query'];
  define: Fleet['define'];
  run: Fleet['run'];
  /** Adds the flags of the project and the database to a CLI command. */
  withPlace(command: readonly string[], server?: string): readonly string[];
  close(): Promise<void>;
}

/** Creates a project folder and a schema name. The first replica that starts creates the schema. */
export function createFleetDatabase(server: string): FleetDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-replicas-'));
  const project = join(folder, 'project');
  mkdirSync(join(project, 'resources'), { recursive: true });
  const define = (definition: string): void => writeFileSync(join(project, 'resources', 'Note.yaml'), definition);
  define(NOTE);
  for (const [name, definition] of Object.entries(OTHERS)) writeFileSync(join(project, 'resources', `${name}.yaml`), definition);
  const place = new URL(withSchema(server));
  const schema = place.searchParams.get('schema') ?? '';
  let count = 0;
  const withPlace: FleetDatabase['withPlace'] = (command, other = server) => [
    ...command,
    ...['--project', project, '--data', join(folder, 'data-0'), '--database', `${other}?schema=${schema}`],
  ];
  return {
    project,
    define,
    withPlace,
    start({ server: other = server, args = [], env = {}, preload }: ReplicaOptions = {}) {
      const database = `${other}?schema=${schema}`;
      return startProgram({
        ...{ project, data: join(folder, `data-${count++}`) },
        // A busy machine must not refuse a request because its search takes long.
        args: ['--database', database, '--rate-limit', '0', '--log-level', 'warn', '--scan-milliseconds', '60000', ...args],
        env: { BAILIWICK_JWT_SECRET: SECRET, ...env },
        ...(preload !== undefined && { preload }),
      });
    },
    async query(sql, values = []) {
      const client = new pg.Client({ connectionString: server });
      client.on('error', () => undefined);
      await client.connect();
      try {
        await client.query(`SET search_path TO "${schema}"`);
        return (await client.query<Row>(sql, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    run: (command, other) => runProgram(withPlace(command, other)),
    // With retries: the workers of a killed primary may still write to their data folder.
    close: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}
