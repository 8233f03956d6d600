import { decodeText } from './detect-format.ts';
import { parseRow, toUnreadable } from './parse-line.ts';
import type { SourceOptions, SourceRow } from './read-rows.ts';

/** Bounds of lines. */
export type LineBounds = Pick<SourceOptions, 'rowLength' | 'depth'>;

/** The objects of NDJSON, of whatever they are. */
export async function* readObjects(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, bounds: LineBounds): AsyncGenerator<SourceRow> {
  yield* parseNdjson(decodeText(bytes), bounds);
}

/** A JSON object on each line. A line that is none, or too long, costs only itself; empty lines are passed over and counted. */
export async function* parseNdjson(texts: AsyncIterable<string>, options: LineBounds): AsyncGenerator<SourceRow> {
  let row = 0;
  for await (const line of readLines(texts, options.rowLength)) {
    row++;
    if (line === undefined) yield toUnreadable(row, `expected a line of at most ${options.rowLength} characters`, 0);
    else if (line.trim() !== '') yield parseRow(row, line, options);
  }
}

/** Lines without their ends; undefined for one that is too long, of which no more than that length is ever held. */
async function* readLines(texts: AsyncIterable<string>, maxLength: number): AsyncGenerator<string | undefined> {
  let parts: string[] = [];
  let length = 0;
  const take = (part: string): void => {
    length += part.length;
    if (length <= maxLength) parts.push(part);
    else parts = [];
  };
  const end = (): string | undefined => {
    const line = length <= maxLength ? parts.join('') : undefined;
    parts = [];
    length = 0;
    return line;
  };

  for await (const text of texts) {
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      take(text.slice(from, to));
      yield end();
      from = to + 1;
    }
    take(text.slice(from));
  }
  if (length > 0) yield end();
}
