import { createHash, randomUUID } from 'node:crypto';
import Sqlite from 'better-sqlite3';

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

/** A transaction in a batch. Its result is returned after the commit. */
export type Work<T> = () => T;

/** The database of the server by hand. Statements are prepared once, and all transactions that waited for a commit share the next one. */
export interface Store {
  readonly driver: Sqlite.Database;
  run<T>(work: Work<T>): Promise<T>;
  close(): void;
}

/** Opens the database with the same durability settings as Bailiwick. */
export function openStore(path: string): Store {
  const driver = new Sqlite(path);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) driver.pragma(pragma);
  driver.exec(TABLES);
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

  return {
    driver,
    run: <T>(work: Work<T>) =>
      new Promise<T>((resolve, reject) => {
        if (queue.length === 0) setImmediate(flush);
        queue.push({ work, resolve: resolve as (answer: unknown) => void, reject });
      }),
    close: () => void driver.close(),
  };
}

/** Creates an id that begins with the time, as in Bailiwick, so that indexes grow at their end. */
export function createIdByTime(): string {
  return `${Date.now().toString(16).padStart(12, '0')}-${randomUUID().slice(14)}`;
}

/** Returns the cache key of a verified token. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
