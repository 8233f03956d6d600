/**
 * Replicas on one PostgreSQL, each a process of its own, and the world that they are asked about. What is looked up here to judge
 * them is asked of the database itself, with a driver of our own: nothing of the program is in between.
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

/** Replicas, and what tests ask of them and of their database. */
export interface Fleet {
  /** Those that run, by number; where one is killed and started again, another address has its number. */
  readonly replicas: readonly Program[];
  readonly admin: string;
  /** Any of them. */
  any(): Program;
  /** Starts one in the place of another, as that was started, or one more. */
  start(index: number, how?: ReplicaOptions): Promise<Program>;
  /** Asks any of them as the admin; throws where the answer is not a success. */
  asAdmin(call: Call, body?: unknown, requestId?: string): Promise<Reply>;
  /** A user with a token. */
  createUser(role: string): Promise<FleetUser>;
  /** Opens a session of a user; gives its token. */
  logIn(id: string): Promise<string>;
  /** A policy that allows everything on notes, or what is said; gives its id. */
  createPolicy(rules?: readonly object[]): Promise<string>;
  /** Rows as they are, asked of the server itself. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Writes another definition of notes; whoever is started next has tables follow it. */
  define(definition: string): void;
  /** Runs a command of the program on the fleet's database, by the address of a server. */
  run(command: readonly string[], server?: string): Promise<Ended>;
  /** What the program itself says of the chains of entries. */
  verify(): Promise<Ended>;
  close(): Promise<void>;
}

/** `GET /api/Note` */
export type Call = Parameters<typeof send>[1];
/** A row as the server says it. */
export type Row = Readonly<Record<string, unknown>>;

/** A user whose requests are judged. */
export interface FleetUser {
  readonly id: string;
  readonly email: string;
  /** Another one once the user has logged in again. */
  token: string;
}

/** How one replica is started. */
export interface ReplicaOptions extends Pick<Start, 'args' | 'env' | 'preload'> {
  /** Another address of the server, such as a proxy's. */
  readonly server?: string;
}

/** What to start. */
export interface FleetOptions {
  /** Address of the PostgreSQL server, where the fleet has a schema of its own. */
  readonly server: string;
  /** One for each replica. */
  readonly replicas: readonly ReplicaOptions[];
}

/** What notes are like; everything that is decided on is one. */
export const NOTE = 'name: Note\nfields:\n  text: { type: string }\n  slug: { type: string, unique: true }\n';
/** A secret that whoever judges can sign with, too. */
const SECRET = 'one secret for all the replicas of a test';
/** Allows everything on notes. */
export const EVERYTHING: readonly object[] = [{ resource: 'Note', action: '*' }];

/** Starts all of them at once, on an empty schema, and makes an admin. */
export async function startFleet({ server, replicas: wanted }: FleetOptions): Promise<Fleet> {
  const ground = createGround(server);
  const [first, ...others] = await Promise.all(wanted.map((how) => ground.start(how)));
  if (first === undefined) throw new Error('a fleet has one replica at least');
  const running: Program[] = [first, ...others];
  await setUp(first.url);
  const [made] = await ground.query(`SELECT "id" FROM "User"`);
  const logIn = (id: string): Promise<string> => openSession(ground, id);
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
      const started = await ground.start(how);
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
    query: ground.query,
    define: ground.define,
    run: ground.run,
    // Each replica signs with a key of its own, and none of them for long enough here.
    verify: () => ground.run(['decisions', 'verify', '--checkpoints', 'off']),
    async close() {
      await Promise.all(running.map((replica) => replica.stop('SIGKILL')));
      await ground.close();
    },
  };
}

/** Makes a note; the entry of its creation, which knows no id yet, is found by the slug. */
export function createNote({ url }: Program, token: string): Promise<Reply> {
  const slug = randomBytes(8).toString('hex');
  return send(url, 'POST /api/Note', { token, body: { slug }, requestId: slug });
}

const DAY = 86_400_000;

/** Opens a session by SQL and signs a token of it: both are valid for days, so they do not depend on which clock is right. */
async function openSession({ query }: Pick<Ground, 'query'>, userId: string): Promise<string> {
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

/** Where replicas stand: a project, and a schema on the server. */
export interface Ground {
  /** Holds `resources/`. */
  readonly project: string;
  start(how?: ReplicaOptions): Promise<Program>;
  query: Fleet['query'];
  define: Fleet['define'];
  run: Fleet['run'];
  close(): Promise<void>;
}

/** Makes a project and a name for a schema; who starts first makes the schema. */
export function createGround(server: string): Ground {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-replicas-'));
  const project = join(folder, 'project');
  mkdirSync(join(project, 'resources'), { recursive: true });
  const define = (definition: string): void => writeFileSync(join(project, 'resources', 'Note.yaml'), definition);
  define(NOTE);
  const place = new URL(withSchema(server));
  const schema = place.searchParams.get('schema') ?? '';
  let count = 0;
  return {
    project,
    define,
    start({ server: other = server, args = [], env = {}, preload }: ReplicaOptions = {}) {
      const database = `${other}?schema=${schema}`;
      return startProgram({
        ...{ project, data: join(folder, `data-${count++}`) },
        args: ['--database', database, '--rate-limit', '0', '--log-level', 'warn', ...args],
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
    run: (command, other = server) =>
      runProgram([...command, '--project', project, '--data', join(folder, 'data-0'), '--database', `${other}?schema=${schema}`]),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
