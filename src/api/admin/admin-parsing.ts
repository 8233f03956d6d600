/** Cursors of admin endpoints, and the bodies of policy imports. */
import { type Issue, MAX_ISSUES, Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { type ByteStream, parseJsonBody } from '../../request/index.ts';
import { runInTurns } from '../../run-in-turns.ts';
import type { ChangePosition, PolicyOrder, PolicyPosition } from '../../storage/index.ts';
import { type Format, formatOfType, readObjects } from '../../transfer/formats/index.ts';
import { type ImportLimits, limitBytes, readBody } from '../../transfer/index.ts';

/** The kinds of lists whose pages are in the order of ids. */
type Paged = 'user' | 'policy' | 'userPolicy' | 'rolePolicy';

/** Returns the cursor of the page after an id. The cursor is not signed, because it contains only the id and admins may see all users and policies. */
export function toIdCursor(of: Paged, id: string): string {
  return Buffer.from(`${of} ${id}`).toString('base64url');
}

/** More than the highest priority that a policy can have. */
const MAX_PRIORITY = 2_000_000_000;

const POSITION = /^([a-zA-Z]+) ([0-9a-f-]{36})$/;

/** Parses a cursor and returns its id. @throws Problem REQUEST_CURSOR if it is invalid */
export function parseIdCursor(of: Paged, cursor: string): string {
  const [, list, id] = POSITION.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (list !== of || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return id;
}

/** Returns the cursor of the page after a policy. It names the order, so that it is refused with another one. */
export function toPolicyCursor(order: PolicyOrder, { id, key }: PolicyPosition): string {
  return Buffer.from(JSON.stringify(['policies', order, id, key ?? null])).toString('base64url');
}

/** Parses a cursor of policies. @throws Problem REQUEST_CURSOR if it is invalid or belongs to another order */
export function parsePolicyCursor(order: PolicyOrder, cursor: string): PolicyPosition {
  const [list, sorted, id, key, ...others] = readJsonList(Buffer.from(cursor, 'base64url').toString());
  const isKey = order === 'id' ? key === null : order.endsWith('priority') ? isPriority(key) : isStorableText(key);
  if (list === 'policies' && sorted === order && isStorableText(id) && isKey && others.length === 0)
    return { id, ...(key !== null && { key: key as string | number }) };
  throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before, with the same sort');
}

/** Returns false for a text that PostgreSQL refuses as a parameter. */
function isStorableText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

/** Returns false for a number that PostgreSQL refuses as a parameter that is compared with priorities. */
function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(Number(value)) <= MAX_PRIORITY;
}

function readJsonList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    // The caller refuses the cursor.
    return [];
  }
}

const CHANGE_POSITION = /^change (\d{1,15}) ([0-9a-f-]{36})$/;

/** Returns the cursor of the page of older changes after a change. */
export function toChangeCursor({ revision, id }: ChangePosition): string {
  return Buffer.from(`change ${revision} ${id}`).toString('base64url');
}

/** Parses a cursor of changes. @throws Problem REQUEST_CURSOR if it is invalid */
export function parseChangeCursor(cursor: string): ChangePosition {
  const [, revision, id] = CHANGE_POSITION.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return { revision: Number(revision), id };
}

/** The body of an import. */
export interface PolicyImportBody {
  /** The body as one JSON object, also for an array or NDJSON. */
  readonly body: Json | undefined;
  /** For NDJSON, the line number of each item. */
  readonly lines?: readonly number[];
}

/** The limits of an import. */
export interface PolicyImportLimits {
  /** Maximum number of policies. The parsing of more ends there. */
  readonly importPolicies: number;
  /** Limits on the body. */
  readonly importBounds: ImportLimits;
}

/** The bytes of an import. */
export interface PolicyUpload {
  /** The media type; JSON if undefined. */
  readonly mediaType: string | undefined;
  readonly bytes: ByteStream;
}

/**
 * Parses the body of an import: a JSON object, a JSON array (the list), or NDJSON with one item per line.
 *
 * @param list Name of the list in the object.
 */
export async function parsePolicyImportBody(
  { importBounds, importPolicies }: PolicyImportLimits,
  list: string,
  { mediaType, bytes }: PolicyUpload,
): Promise<PolicyImportBody> {
  const bounds = { ...importBounds, maxItems: importPolicies };
  const format = detectFormat(mediaType);
  const refuse = (): Problem => toTooMany(list, bounds.maxItems);
  if (format === 'json') {
    const limits = { maxDepth: bounds.depth, maxText: bounds.rowLength, list: { name: list, maxItems: bounds.maxItems, refuse } };
    const body = await runInTurns(parseJsonBody(await readBody(bytes, bounds), limits));
    return { body: Array.isArray(body) ? { [list]: body } : body };
  }
  const [items, lines, issues]: [Json[], number[], Issue[]] = [[], [], []];
  for await (const { row, data, problem } of readObjects(limitBytes(bytes, bounds), bounds)) {
    if (items.push(data) > bounds.maxItems) throw refuse();
    lines.push(row);
    if (problem !== undefined) issues.push({ path: `${list}.${items.length - 1}`, row, code: 'type', detail: problem.detail });
  }
  if (issues.length > 0)
    throw new Problem('REQUEST_MALFORMED', `${issues.length} of ${lines.length} lines cannot be read`, {
      errors: issues.slice(0, MAX_ISSUES),
    });
  return { body: { [list]: items }, lines };
}

function toTooMany(list: string, maxItems: number): Problem {
  const issue: Issue = { path: list, code: 'tooMany', detail: `expected at most ${maxItems} items, given more` };
  return new Problem('POLICY_INVALID', '1 mistake in the policies, none was imported', { errors: [issue] });
}

/** Returns the mistakes with the line number of their item, if the body was NDJSON. */
export function withLines(issues: readonly Issue[], list: string, lines: PolicyImportBody['lines']): readonly Issue[] {
  return issues.map((issue) => {
    const [first, index] = issue.path.split('.', 2);
    const row = first === list ? lines?.[Number(index)] : undefined;
    return row === undefined ? issue : { ...issue, row };
  });
}

/** Returns true if the response is NDJSON, by `format` or by the Accept header. */
export function wantsLines(accepted: readonly Format[], format: 'json' | 'ndjson' | undefined): boolean {
  return (format ?? accepted.find((each) => each !== 'csv')) === 'ndjson';
}

function detectFormat(mediaType: string | undefined): Exclude<Format, 'csv'> {
  const format = mediaType === undefined ? 'json' : formatOfType(mediaType);
  if (format === 'json' || format === 'ndjson') return format;
  throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body of type application/json, application/x-ndjson');
}

/** The body of a request without one. */
export const EMPTY_STREAM: ByteStream = { async *[Symbol.asyncIterator]() {} };
