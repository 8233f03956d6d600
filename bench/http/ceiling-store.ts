import { createHash, randomUUID } from 'node:crypto';

/** The columns of an article. */
export const COLUMNS = 'id, version, createdAt, updatedAt, createdBy, title, slug, body, status, authorId, publishedAt';

/** The values of a new article. */
export interface NewArticle {
  readonly authorId: string;
  readonly title: string;
  readonly slug: string;
  readonly body?: string;
  readonly status?: string;
  readonly publishedAt?: string;
}

/** A stored article. */
export interface Article extends NewArticle {
  readonly id: string;
}

/** The verified token of a request, and the values of its audit rows. */
export interface Asked {
  readonly userId: string;
  readonly sessionId: string;
  readonly requestId: string;
  readonly ip: string;
}

/** Options of a list. */
export interface ListQuery {
  readonly limit: number;
  readonly status?: string;
}

/**
 * The database of the server by hand. Each method loads the caller, does its work and commits an audit row; it resolves to undefined if the
 * caller may not do it.
 */
export interface Store {
  read(asked: Asked, id: string): Promise<Article | undefined>;
  list(asked: Asked, query: ListQuery): Promise<readonly Article[] | undefined>;
  total(asked: Asked): Promise<number | undefined>;
  create(asked: Asked, articles: readonly NewArticle[]): Promise<readonly Article[] | undefined>;
  update(asked: Asked, id: string, title: string): Promise<Article | undefined>;
}

/** Creates an id that begins with the time, as in Bailiwick, so that indexes grow at their end. */
export function createIdByTime(): string {
  return `${Date.now().toString(16).padStart(12, '0')}-${randomUUID().slice(14)}`;
}

/** Returns the cache key of a verified token. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
