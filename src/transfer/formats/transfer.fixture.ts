import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { parseDefinition, type Resource } from '../../resources/index.ts';
import type { Format } from './format.ts';
import { readRows, type SourceOptions } from './read-rows.ts';

const { resource: found } = parseDefinition({
  name: 'Case',
  fields: {
    title: { type: 'string', required: true },
    amount: { type: 'decimal' },
    views: { type: 'integer' },
    open: { type: 'boolean' },
    tags: { type: 'list', of: 'string' },
    extra: { type: 'json' },
    secret: { type: 'string', writeOnly: true },
  },
});
if (found === undefined) throw new Error('the definition of the test is broken');
/** What rows are read for. */
export const resource: Resource = found;

const OPTIONS: Omit<SourceOptions, 'format'> = { resource, rowLength: 200, depth: 8, delimiter: ',', guardFormulas: true };

/** The bytes in pieces of so many: what is read must not depend on where they break. */
export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What was read of a file. */
export type Read = readonly (readonly [number, Json] | string)[];

/** Rows as `[row, data]`, those that cannot be read as their words, and at the end what ended the reading early. */
export async function read(format: Format, body: string | Uint8Array, options: Partial<SourceOptions> = {}, size = 7): Promise<Read> {
  const rows: (readonly [number, Json] | string)[] = [];
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  try {
    for await (const { row, data, problem, issues } of readRows(inPieces(bytes, size), { ...OPTIONS, ...options, format })) {
      const told = issues.map(({ path, detail }) => `${row} ${path}: ${detail}`);
      if (problem === undefined) rows.push([row, data], ...told);
      else rows.push(`${row}: ${problem.detail}`);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    rows.push(`${error.code}: ${error.detail}`, ...(error.extras.errors ?? []).map(({ path, detail }) => `${path}: ${detail}`));
  }
  return rows;
}
