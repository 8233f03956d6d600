import { type Issue, Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { type HttpRequest, parseJsonBody } from '../request/index.ts';
import { type Format, formatOfType, readObjects } from '../transfer/formats/index.ts';
import { type ImportLimits, parseAccept, readBody } from '../transfer/index.ts';

/** What was sent to be imported. */
export interface SentImport {
  /** One JSON object, whatever it was sent as. */
  readonly body: Json | undefined;
  /** Of NDJSON: the line that each item of the list stands on. */
  readonly lines?: readonly number[];
}

/**
 * Reads what is imported, all or none of it: a JSON object, a JSON array that is its list, or NDJSON, a line for each item.
 *
 * @param list Name of the list in the object.
 */
export async function parsePolicyImportBody(call: HttpRequest, list: string, bounds: ImportLimits): Promise<SentImport> {
  const format = readFormat(call);
  const bytes = await readBody(call.stream ?? NOTHING, bounds);
  if (format === 'json') {
    const body = parseJsonBody(bytes, bounds.depth);
    return { body: Array.isArray(body) ? { [list]: body } : body };
  }
  const [items, lines, issues]: [Json[], number[], Issue[]] = [[], [], []];
  for await (const { row, data, problem } of readObjects([bytes], bounds)) {
    items.push(data);
    lines.push(row);
    if (problem !== undefined) issues.push({ path: `${list}.${items.length - 1}`, row, code: 'type', detail: problem.detail });
  }
  if (issues.length > 0)
    throw new Problem('REQUEST_MALFORMED', `${issues.length} of ${lines.length} lines cannot be read`, { errors: issues });
  return { body: { [list]: items }, lines };
}

/** Mistakes with the line of the item that each is about. */
export function withLines(issues: readonly Issue[], list: string, lines: SentImport['lines']): readonly Issue[] {
  return issues.map((issue) => {
    const [first, index] = issue.path.split('.', 2);
    const row = first === list ? lines?.[Number(index)] : undefined;
    return row === undefined ? issue : { ...issue, row };
  });
}

/** Whether the answer is to be NDJSON: by `format` in the query, else by what is accepted. */
export function wantsLines(call: HttpRequest): boolean {
  const named = call.query.get('format');
  if (named !== undefined && named !== 'ndjson' && named !== 'json')
    throw new Problem('REQUEST_PARAMETER', 'format: expected one of ndjson, json');
  return named === undefined ? parseAccept(call).find((format) => format !== 'csv') === 'ndjson' : named === 'ndjson';
}

function readFormat(call: HttpRequest): Exclude<Format, 'csv'> {
  const type = call.header('content-type');
  const format = type === undefined ? 'json' : formatOfType(type);
  if (format === 'json' || format === 'ndjson') return format;
  throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body of type application/json, application/x-ndjson');
}

const NOTHING = { async *[Symbol.asyncIterator]() {} };
