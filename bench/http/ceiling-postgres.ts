import { createHash } from 'node:crypto';
import { loadContestant } from '../contestants/install.ts';
import { type Article, type Asked, COLUMNS, createIdByTime, type NewArticle, type Store } from './ceiling-store.ts';

/** The tables of the store. */
export const POSTGRES_TABLES = `
CREATE TABLE state (id text PRIMARY KEY, stamp text);
CREATE TABLE users (id text PRIMARY KEY, role text, "isActive" boolean);
CREATE TABLE session (id text PRIMARY KEY, "userId" text, "revokedAt" text);
CREATE TABLE article (id text PRIMARY KEY, version integer, "createdAt" text, "updatedAt" text, "createdBy" text,
  title text, slug text, body text, status text, "authorId" text REFERENCES users (id), "publishedAt" text);
CREATE INDEX ON article ("authorId", status, "publishedAt", id);
CREATE INDEX ON article ("authorId", id);
CREATE UNIQUE INDEX ON article (slug);
CREATE TABLE audit (id text PRIMARY KEY, at text, "userId" text, role text, resource text, action text, "recordId" text,
  allowed boolean, "requestId" text, ip text, chain text, sequence bigint, hash text);
CREATE INDEX ON audit (at, id)`;

/** Connections that load, on which statements of many requests are on their way at once. */
const LOADING = 2;
/** Connections that commit audit rows, one flight at a time each, and connections that commit changes. Each continues a chain of its own. */
const [FLIGHTS, CHANGES] = [2, 10];
/** Maximum number of requests that share a commit, as in Bailiwick. */
const GROUP = 256;
/** Maximum attempts at a request whose revision has changed. */
const ATTEMPTS = 5;

/** The part of the driver that is used. Its own types are installed only with it. */
interface Driver {
  unsafe<Row>(text: string, parameters: readonly unknown[], options: { readonly prepare: true }): Promise<readonly Row[]>;
}
type Connect = (url: string, options: object) => Driver;

const QUOTED = COLUMNS.split(', ').map((name) => `"${name}"`);
const CALLER = `SELECT e.stamp AS "_stamp", u.id AS "_user", u.role AS "_role" FROM state e
  LEFT JOIN (users u JOIN session s ON s."userId" = u.id) ON u.id = $1 AND s.id = $2 AND u."isActive" AND s."revokedAt" IS NULL
  WHERE e.id = 'epoch'`;
const OF_ARTICLE = QUOTED.map((name) => `a.${name}`).join(', ');
const withCaller = (rows: string): string => `WITH c AS (${CALLER}) SELECT c.*, ${OF_ARTICLE} FROM c LEFT JOIN LATERAL (${rows}) a ON true`;
const READ = withCaller(`SELECT * FROM article WHERE id = $3 AND "authorId" = c."_user"`);
const LIST = withCaller(`SELECT * FROM article WHERE "authorId" = c."_user" ORDER BY id LIMIT $3`);
const LIST_BY_STATUS = withCaller(
  `SELECT * FROM article WHERE "authorId" = c."_user" AND status = $3 ORDER BY "publishedAt" DESC, id DESC LIMIT $4`,
);
const TOTAL = `WITH c AS (${CALLER}) SELECT c.*, (SELECT count(*)::int FROM article WHERE "authorId" = c."_user") AS total FROM c`;

// Of an array of booleans, the driver would announce the type of a single one.
const AUDIT_TYPES = ['text', 'text', 'text', 'text', 'text', 'text', 'text', 'text[]::boolean', 'text', 'text', 'text', 'bigint', 'text'];
/** Returns the insertion of audit rows, each column of which is an array parameter from the nth on. */
const auditFrom = (first: number, where = ''): string =>
  `INSERT INTO audit SELECT * FROM unnest(${AUDIT_TYPES.map((type, nth) => `$${first + nth}::${type}[]`).join(', ')})${where}`;
/** The answer carries the revision, so that a request whose revision has changed runs again. */
const FLIGHT = `WITH noted AS (${auditFrom(1)}) SELECT stamp FROM state WHERE id = 'epoch'`;
const CHANGE = `WITH current AS (SELECT 1 FROM state WHERE id = 'epoch' AND stamp = $1)`;
const UPDATE = `${CHANGE}, changed AS (UPDATE article SET title = $2, "updatedAt" = $3, version = version + 1
    WHERE id = $4 AND "authorId" = $5 AND EXISTS (SELECT FROM current) RETURNING ${QUOTED}),
  noted AS (${auditFrom(6, ' WHERE EXISTS (SELECT FROM changed)')}) SELECT * FROM changed`;
const ARTICLE_TYPES = ['text', 'integer', ...Array.from({ length: QUOTED.length - 2 }, () => 'text')];
const CREATE = `${CHANGE}, changed AS (INSERT INTO article (${QUOTED})
    SELECT * FROM unnest(${ARTICLE_TYPES.map((type, nth) => `$${2 + nth}::${type}[]`).join(', ')}) WHERE EXISTS (SELECT FROM current)
    RETURNING ${QUOTED}),
  noted AS (${auditFrom(2 + ARTICLE_TYPES.length, ' WHERE EXISTS (SELECT FROM changed)')}) SELECT * FROM changed`;

/** The caller, as each statement that loads returns it. */
interface Caller {
  readonly _stamp: string;
  readonly _user: string | null;
  readonly _role: string | null;
}

/** An audit row without its place in a chain. */
type Entry = readonly (string | null)[];

/** A connection with the last row of its chain. */
interface Lane {
  readonly sql: Driver;
  readonly chain: string;
  sequence: number;
  hash: string;
}

/** Opens the store. */
export function openPostgresStore(url: string): Store {
  const connect = loadContestant<Connect>('postgres');
  const open = (max: number): Driver => connect(url, { max, onnotice: () => undefined });
  const openLane = (): Lane => ({ sql: open(1), chain: createIdByTime(), sequence: 0, hash: '' });
  const loading = open(LOADING);
  const note = createFlights(Array.from({ length: FLIGHTS }, openLane));
  const change = createChanges(Array.from({ length: CHANGES }, openLane));

  async function answer<Row extends Caller, T>(asked: Asked, handling: Handling<Row, T>): Promise<T | undefined> {
    const { text, parameters = [], toResult, action, recordId = null } = handling;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const rows = await loading.unsafe<Row>(text, [asked.userId, asked.sessionId, ...parameters], PREPARED);
      const result = toResult(rows);
      const entry = toEntry(asked, rows[0], { action, recordId, allowed: result !== undefined });
      if ((await note(entry)) === rows[0]?._stamp) return result;
    }
    throw new Error('the revision changes too often');
  }

  /** Loads the caller, decides, and changes articles together with the audit rows. */
  async function write(asked: Asked, { action, recordId = null, entries, isAllowed, text, toParameters }: Change) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [caller] = await loading.unsafe<Caller>(CALLER, [asked.userId, asked.sessionId], PREPARED);
      const userId = caller?._user ?? null;
      if (caller !== undefined && userId !== null && isAllowed(userId)) {
        const noted = Array.from({ length: entries }, () => toEntry(asked, caller, { action, recordId, allowed: true }));
        const rows = await change(noted, text, [caller._stamp, ...toParameters(userId, new Date().toISOString())]);
        if (rows.length > 0) return rows;
      }
      if ((await note(toEntry(asked, caller, { action, recordId, allowed: false }))) === caller?._stamp) return undefined;
    }
    throw new Error('the revision changes too often');
  }

  return {
    read: (asked, recordId) => answer(asked, { action: 'read', recordId, text: READ, parameters: [recordId], toResult: toArticle }),
    list: (asked, { limit, status }) =>
      status === undefined
        ? answer(asked, { action: 'list', text: LIST, parameters: [limit], toResult: toArticles })
        : answer(asked, { action: 'list', text: LIST_BY_STATUS, parameters: [status, limit], toResult: toArticles }),
    total: (asked) =>
      answer<Caller & { readonly total: number }, number>(asked, {
        action: 'list',
        text: TOTAL,
        toResult: ([row]) => (row?._user === null ? undefined : row?.total),
      }),
    create: (asked, articles) =>
      write(asked, {
        action: 'create',
        entries: articles.length,
        isAllowed: (userId) => articles.every(({ authorId }) => authorId === userId),
        text: CREATE,
        toParameters: (userId, at) => toColumns(articles.map((article) => toRow(article, userId, at))),
      }),
    async update(asked, recordId, title) {
      const toParameters = (userId: string, at: string) => [title, at, recordId, userId];
      return (await write(asked, { action: 'update', recordId, entries: 1, isAllowed: () => true, text: UPDATE, toParameters }))?.[0];
    },
  };
}

const PREPARED = { prepare: true } as const;

interface Handling<Row, T> {
  readonly action: string;
  readonly recordId?: string | null;
  readonly text: string;
  readonly parameters?: readonly unknown[];
  /** Returns undefined if the caller may not see the result. */
  toResult(rows: readonly Row[]): T | undefined;
}

interface Change {
  readonly action: string;
  readonly recordId?: string | null;
  readonly entries: number;
  readonly text: string;
  isAllowed(userId: string): boolean;
  toParameters(userId: string, at: string): readonly unknown[];
}

type Loaded = Caller & { readonly [Column in keyof Article]: Article[Column] | null };

function toArticle([row]: readonly Loaded[]): Article | undefined {
  return row === undefined || row.id === null ? undefined : (row as Article);
}

function toArticles(rows: readonly Loaded[]): readonly Article[] | undefined {
  if (rows[0]?._user === null) return undefined;
  return rows.filter((row): row is Caller & Article => row.id !== null);
}

function toRow({ authorId, title, slug, body, status, publishedAt }: NewArticle, userId: string, at: string): readonly unknown[] {
  return [createIdByTime(), 1, at, at, userId, title, slug, body ?? null, status ?? 'draft', authorId, publishedAt ?? null];
}

interface Decided {
  readonly action: string;
  readonly recordId: string | null;
  readonly allowed: boolean;
}

function toEntry({ requestId, ip }: Asked, caller: Caller | undefined, { action, recordId, allowed }: Decided): Entry {
  const { _user = null, _role = null } = caller ?? {};
  return [createIdByTime(), new Date().toISOString(), _user, _role, 'Article', action, recordId, String(allowed), requestId, ip];
}

/** Continues the chain of a lane: the hash of each row covers the one before. */
function link(lane: Lane, entries: readonly Entry[]): readonly unknown[] {
  const rows = entries.map((entry) => {
    lane.sequence++;
    lane.hash = createHash('sha256')
      .update(JSON.stringify([lane.hash, ...entry]))
      .digest('base64url');
    return [...entry, lane.chain, lane.sequence, lane.hash];
  });
  return toColumns(rows);
}

function toColumns(rows: readonly (readonly unknown[])[]): readonly unknown[] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

/** Creates the function that appends an audit row and resolves to the revision of its commit. All rows that wait share the next statement. */
function createFlights(free: Lane[]): (entry: Entry) => Promise<string | undefined> {
  const queue: { readonly entry: Entry; resolve(stamp: string | undefined): void; reject(error: unknown): void }[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || free.length === 0 || queue.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void fly(free.pop() as Lane, queue.splice(0, GROUP));
    });
  }

  async function fly(lane: Lane, flight: typeof queue): Promise<void> {
    const columns = link(
      lane,
      flight.map(({ entry }) => entry),
    );
    try {
      const [row] = await lane.sql.unsafe<{ stamp: string }>(FLIGHT, columns, PREPARED);
      for (const { resolve } of flight) resolve(row?.stamp);
    } catch (error) {
      for (const { reject } of flight) reject(error);
    }
    free.push(lane);
    schedule();
  }

  return (entry) =>
    new Promise((resolve, reject) => {
      queue.push({ entry, resolve, reject });
      schedule();
    });
}

/** Creates the function that runs a change with its audit rows in one statement, on a lane of its own. */
function createChanges(free: Lane[]): (entries: readonly Entry[], text: string, before: readonly unknown[]) => Promise<readonly Article[]> {
  const waiting: ((lane: Lane) => void)[] = [];

  return async (entries, text, before) => {
    const lane = free.pop() ?? (await new Promise<Lane>((resolve) => waiting.push(resolve)));
    const { sequence, hash } = lane;
    let rows: readonly Article[] = [];
    try {
      rows = await lane.sql.unsafe<Article>(text, [...before, ...link(lane, entries)], PREPARED);
    } finally {
      if (rows.length === 0) Object.assign(lane, { sequence, hash });
      const next = waiting.shift();
      if (next === undefined) free.push(lane);
      else next(lane);
    }
    return rows;
  };
}
