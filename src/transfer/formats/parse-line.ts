import { Problem } from '../../errors.ts';
import { describeValue, isObject } from '../../operators/index.ts';
import { parseJson } from '../../strict-json.ts';
import type { SourceOptions, SourceRow } from './read-rows.ts';

/** A row from its JSON text, which is bounded in length by whoever found its ends. */
export function parseRow(row: number, text: string, { depth }: Pick<SourceOptions, 'depth'>): SourceRow {
  const size = text.length;
  try {
    const data = parseJson(text, { maxDepth: depth, subject: 'the row' });
    if (isObject(data)) return { row, data, issues: [], size };
    return toUnreadable(row, `expected an object of fields, given ${describeValue(data)}`, size);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { row, data: {}, issues: [], problem: error, size };
  }
}

/** A row that cannot be read, for the reason given. */
export function toUnreadable(row: number, detail: string, size: number): SourceRow {
  return { row, data: {}, issues: [], problem: new Problem('REQUEST_MALFORMED', detail), size };
}
