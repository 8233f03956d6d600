import { expect } from 'vitest';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { parseDefinition, type Resource } from '../../resources/index.ts';
import type { Format, SourceOptions } from './format.ts';
import { readRows } from './read-rows.ts';

const { resource: parsed } = parseDefinition({
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
if (parsed === undefined) throw new Error('the definition of the test is broken');
/** The resource that rows are parsed for. */
export const resource: Resource = parsed;

const OPTIONS: Omit<SourceOptions, 'format'> = { resource, rowLength: 200, depth: 8, delimiter: ',', guardFormulas: true };

/** Yields the bytes in chunks of this size: the result must not depend on where they break. */
export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The outcome of reading a file. */
export type ReadOutcome = readonly (readonly [number, Json] | string)[];

/** The expected outcome: texts are matched by a pattern. */
export type ExpectedOutcome = readonly (readonly [number, Json] | RegExp)[];

/** Returns the expected outcome for `toEqual`. */
export function toMatchers(expected: ExpectedOutcome): readonly unknown[] {
  return expected.map((each) => (each instanceof RegExp ? expect.stringMatching(each) : each));
}

/** Reads a file: parsed rows as `[row, data]`, invalid rows as texts, and at the end the error that ended the reading. */
export async function read(
  format: Format,
  body: string | Uint8Array,
  options: Partial<SourceOptions> = {},
  size = 7,
): Promise<ReadOutcome> {
  const rows: (readonly [number, Json] | string)[] = [];
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  try {
    for await (const { row, data, problem, issues } of readRows(inChunks(bytes, size), { ...OPTIONS, ...options, format })) {
      const mistakes = issues.map(({ path, detail }) => `${row} ${path}: ${detail}`);
      if (problem === undefined) rows.push([row, data], ...mistakes);
      else rows.push(`${row}: ${problem.detail}`);
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    rows.push(`${error.code}: ${error.detail}`, ...(error.extras.errors ?? []).map(({ path, detail }) => `${path}: ${detail}`));
  }
  return rows;
}
