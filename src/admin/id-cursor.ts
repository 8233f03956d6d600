import { Problem } from '../errors.ts';

/** What pages go through in the order of their ids. */
type Paged = 'user' | 'policy';

/** The place behind an id. Not sealed: it holds nothing but the id, and whoever may ask may see every user and policy. */
export function toIdCursor(of: Paged, id: string): string {
  return Buffer.from(`${of} ${id}`).toString('base64url');
}

const POSITION = /^([a-z]+) ([0-9a-f-]{36})$/;
/** Characters of the longest cursor that is read. */
const MAX_CURSOR_LENGTH = 200;

/** The id that a cursor of the page before stands behind. Throws REQUEST_CURSOR where it is none of ours. */
export function readIdCursor(of: Paged, cursor: string): string {
  const [, what, id] = POSITION.exec(Buffer.from(cursor.slice(0, MAX_CURSOR_LENGTH), 'base64url').toString()) ?? [];
  if (what !== of || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return id;
}
