import { Problem } from '../errors.ts';
import { describeValue, isObject, type Json } from '../operators/index.ts';
import { checkDepth } from '../request/index.ts';
import type { SourceOptions, SourceRow } from './source.ts';

/** A row from its JSON text, which is bounded in length by whoever found its ends. */
export function readRowText(row: number, text: string, { depth }: Pick<SourceOptions, 'depth'>): SourceRow {
  const size = text.length;
  try {
    checkDepth(text, depth);
    const data = parse(text);
    if (isObject(data)) return { row, data, issues: [], size };
    return toUnreadable(row, `expected an object of fields, given ${describeValue(data)}`, size);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return toUnreadable(row, error.detail, size);
  }
}

/** A row that cannot be read, for the reason given. */
export function toUnreadable(row: number, detail: string, size: number): SourceRow {
  return { row, data: {}, issues: [], problem: new Problem('REQUEST_MALFORMED', detail), size };
}

/** The parser's own message repeats what was sent. */
function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'expected a JSON object, given what is not JSON', { cause: error });
  }
}
