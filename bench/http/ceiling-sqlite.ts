import Sqlite from 'better-sqlite3';
import { type Article, type Asked, COLUMNS, createIdByTime, type NewArticle, type Store } from './ceiling-store.ts';

/** Maximum number of transactions that share a commit, as in Bailiwick. */
const GROUP = 256;

const TABLES = `
CREATE TABLE IF NOT EXISTS user (id TEXT PRIMARY KEY NOT NULL, role TEXT, isActive INTEGER) STRICT;
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY NOT NULL, userId TEXT, revokedAt TEXT) STRICT;
CREATE TABLE IF NOT EXISTS article (id TEXT PRIMARY KEY NOT NULL, version INTEGER, createdAt TEXT, updatedAt TEXT, createdBy TEXT,
  title TEXT, slug TEXT, body TEXT, status TEXT, authorId TEXT REFERENCES user (id), publishedAt TEXT) STRICT;
CREATE INDEX IF NOT EXISTS articleByStatus ON article (authorId, status, publishedAt, id);
CREATE INDEX IF NOT EXISTS articleByAuthor ON article (authorId, id);
CREATE UNIQUE INDEX IF NOT EXISTS articleBySlug ON article (slug);
CREATE TABLE IF NOT EXISTS audit (id TEXT PRIMARY KEY NOT NULL, at TEXT, userId TEXT, role TEXT, resource TEXT, action TEXT, recordId TEXT,
  allowed INTEGER, requestId TEXT, ip TEXT) STRICT;
CREATE INDEX IF NOT EXISTS auditByTime ON audit (at, id)`;

interface Caller {
  readonly id: string;
  readonly role: string;
}

/** A transaction in a batch. Its result is returned after the commit. */
type Work<T> = () => T;

/** Opens the file with the same durability settings as Bailiwick. */
export function openFile(path: string): Sqlite.Database {
  const driver = new Sqlite(path);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) driver.pragma(pragma);
  driver.exec(TABLES);
  return driver;
}

/** Opens the store. Statements are prepared once, and all transactions that waited for a commit share the next one. */
export function openSqliteStore(path: string): Store {
  const driver = openFile(path);
  const run = createBatches(driver);
  const who = driver.prepare<[string, string], Caller>(
    'SELECT u.id, u.role FROM user u JOIN session s ON s.userId = u.id WHERE u.id = ? AND s.id = ? AND u.isActive = 1 AND s.revokedAt IS NULL',
  );
  const byId = driver.prepare<[string, string], Article>(`SELECT ${COLUMNS} FROM article WHERE id = ? AND authorId = ?`);
  const list = driver.prepare<[string, number], Article>(`SELECT ${COLUMNS} FROM article WHERE authorId = ? ORDER BY id LIMIT ?`);
  const listByStatus = driver.prepare<[string, string, number], Article>(
    `SELECT ${COLUMNS} FROM article WHERE authorId = ? AND status = ? ORDER BY publishedAt DESC, id DESC LIMIT ?`,
  );
  const count = driver.prepare<[string], number>('SELECT count(*) FROM article WHERE authorId = ?').pluck();
  const insert = driver.prepare<unknown[], Article>(`INSERT INTO article VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`);
  const change = driver.prepare<[string, string, string, string], Article>(
    `UPDATE article SET title = ?, updatedAt = ?, version = version + 1 WHERE id = ? AND authorId = ? RETURNING ${COLUMNS}`,
  );
  const audit = driver.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');

  /** Loads the caller, runs the work and writes the audit rows in one transaction. */
  function answer<T>(asked: Asked, { action, recordId = null, entries = 1, work }: Handling<T>): Promise<T | undefined> {
    return run(() => {
      const caller = who.get(asked.userId, asked.sessionId);
      const found = caller === undefined ? undefined : work(caller);
      const { requestId, ip } = asked;
      for (let entry = 0; entry < entries; entry++) {
        const at = new Date().toISOString();
        const allowed = found === undefined ? 0 : 1;
        audit.run(createIdByTime(), at, caller?.id ?? null, caller?.role ?? null, 'Article', action, recordId, allowed, requestId, ip);
      }
      return found;
    });
  }

  function create(caller: Caller, { authorId, title, slug, body: text, status, publishedAt }: NewArticle): Article | undefined {
    if (authorId !== caller.id) return undefined;
    const at = new Date().toISOString();
    return insert.get(createIdByTime(), at, at, caller.id, title, slug, text ?? null, status ?? 'draft', authorId, publishedAt ?? null);
  }

  return {
    read: (asked, recordId) => answer(asked, { action: 'read', recordId, work: ({ id }) => byId.get(recordId, id) }),
    list: (asked, { limit, status }) =>
      answer(asked, {
        action: 'list',
        work: ({ id }) => (status === undefined ? list.all(id, limit) : listByStatus.all(id, status, limit)),
      }),
    total: (asked) => answer(asked, { action: 'list', work: ({ id }) => count.get(id) }),
    create: (asked, articles) =>
      answer(asked, {
        action: 'create',
        entries: articles.length,
        work(caller) {
          const made = articles.map((article) => create(caller, article));
          return made.every((article) => article !== undefined) ? made : undefined;
        },
      }),
    update: (asked, recordId, title) =>
      answer(asked, { action: 'update', recordId, work: ({ id }) => change.get(title, new Date().toISOString(), recordId, id) }),
  };
}

interface Handling<T> {
  readonly action: string;
  readonly recordId?: string | null;
  readonly entries?: number;
  /** Returns undefined if the caller may not see the record. */
  work(caller: Caller): T | undefined;
}

/** Creates the function that runs transactions. All that waited for a commit share the next one. */
function createBatches(driver: Sqlite.Database): <T>(work: Work<T>) => Promise<T> {
  const [begin, commit] = [driver.prepare('BEGIN IMMEDIATE'), driver.prepare('COMMIT')];
  const queue: { work: Work<unknown>; resolve(answer: unknown): void; reject(error: unknown): void }[] = [];

  function flush(): void {
    const group = queue.splice(0, GROUP);
    if (queue.length > 0) setImmediate(flush);
    begin.run();
    const settled = group.map(({ work, resolve, reject }) => {
      try {
        const answer = work();
        return () => resolve(answer);
      } catch (error) {
        return () => reject(error);
      }
    });
    commit.run();
    for (const settle of settled) settle();
  }

  return <T>(work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      if (queue.length === 0) setImmediate(flush);
      queue.push({ work, resolve: resolve as (answer: unknown) => void, reject });
    });
}
