import { describe, expect, it } from 'vitest';
import type { ImportLine } from '../../../api/import-records.ts';
import { isLost, RequestError } from '../../../api/problem.ts';
import { type RunningImport, readImport } from './import-run.ts';

const counts = (imported: number, rejected = 0) => ({ imported, updated: 0, unchanged: 0, rejected });
const REJECTED = { row: 7, code: 'VALUE_INVALID', detail: 'no' };
const BEGINNING: readonly ImportLine[] = [
  { kind: 'progress', counts: counts(5), row: 6 },
  { kind: 'rejected', rejected: REJECTED },
];

async function* send(lines: readonly ImportLine[], failure?: unknown): AsyncGenerator<ImportLine> {
  yield* lines;
  if (failure !== undefined) throw failure;
}

function read(lines: AsyncIterable<ImportLine>, control = new AbortController()) {
  const progress: RunningImport[] = [];
  return readImport(lines, control.signal, (running) => progress.push(running)).then((ended) => ({ ...ended, progress }));
}

describe('readImport', () => {
  it('returns the summary and the rejected rows of an import that reached its last row', async () => {
    expect(await read(send([...BEGINNING, { kind: 'end', counts: counts(9, 1) }]))).toEqual({
      counts: counts(9, 1),
      rejected: [REJECTED],
      end: 'complete',
      progress: [{ counts: counts(5), row: 6 }],
    });
  });

  it('a response that ends without a summary is a failure with the counts of the last batch', async () => {
    const ended = await read(send(BEGINNING));
    expect(ended).toMatchObject({ counts: counts(5), rejected: [REJECTED], end: 'failed' });
    expect(isLost(ended.error)).toBe(true);
  });

  it('a lost connection keeps the counts and the rejected rows before it', async () => {
    const lost = new TypeError('network error');
    expect(await read(send(BEGINNING, lost))).toMatchObject({ counts: counts(5), rejected: [REJECTED], end: 'failed', error: lost });
  });

  it('a problem has the counts at the row at which the import stopped', async () => {
    const problem = new RequestError({
      title: 'Invalid values',
      status: 422,
      code: 'VALUE_INVALID',
      data: { ...counts(6, 1), lastRow: 7 },
    });
    expect(await read(send(BEGINNING, problem))).toMatchObject({ counts: counts(6, 1), end: 'failed', error: problem });
  });

  it('an import that its user stops has no error', async () => {
    const control = new AbortController();
    control.abort();
    const ended = await read(send(BEGINNING, new DOMException('aborted', 'AbortError')), control);
    expect(ended).toMatchObject({ counts: counts(5), rejected: [REJECTED], end: 'stopped' });
    expect(ended.error).toBeUndefined();
  });
});
