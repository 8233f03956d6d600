import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ImportCounts, type ImportOptions, importRecords, type RejectedRow } from '../../../api/import-records.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { type ImportFile, mapFile } from './import-file.ts';

/** The numbers of rows of an import that goes on. */
export interface RunningImport {
  readonly counts: ImportCounts;
  /** The last row of the last batch. */
  readonly row: number;
}

/** The result of an import. */
export interface FinishedImport {
  readonly counts: ImportCounts;
  readonly rejected: readonly RejectedRow[];
  readonly isDryRun: boolean;
  /** True if its user has stopped it. */
  readonly isStopped: boolean;
}

interface ImportState {
  readonly running?: RunningImport;
  readonly result?: FinishedImport;
  readonly error?: unknown;
}

/** The file of an import, and its options. */
interface ImportInput {
  readonly file: ImportFile;
  readonly mapping: ColumnMapping;
  readonly options: ImportOptions;
}

const NO_ROWS: ImportCounts = { imported: 0, updated: 0, unchanged: 0, rejected: 0 };

/** Runs an import until its end, or until it is stopped or its form is closed. */
export function useImport(resource: string) {
  const [state, setState] = useState<ImportState>({});
  const control = useRef<AbortController>(undefined);
  const queryClient = useQueryClient();
  useEffect(() => () => control.current?.abort(), []);
  const start = (input: ImportInput): void => {
    control.current = new AbortController();
    void runImport(resource, { ...input, signal: control.current.signal }, setState).finally(
      () => void queryClient.invalidateQueries({ queryKey: ['records', resource] }),
    );
  };
  return { ...state, start, stop: () => control.current?.abort(), reset: () => setState({}) };
}

async function runImport(
  resource: string,
  { file, mapping, options, signal }: ImportInput & { readonly signal: AbortSignal },
  show: (state: ImportState) => void,
): Promise<void> {
  const rejected: RejectedRow[] = [];
  let counts = NO_ROWS;
  const finish = (isStopped: boolean): void => show({ result: { counts, rejected, isDryRun: options.dryRun, isStopped } });
  show({ running: { counts, row: 0 } });
  try {
    const { type, delimiter } = file;
    const body = { content: await mapFile(file, mapping), type, delimiter, signal };
    for await (const line of importRecords(resource, body, options)) {
      if (line.kind === 'rejected') rejected.push(line.rejected);
      else counts = line.counts;
      if (line.kind === 'progress') show({ running: { counts, row: line.row } });
    }
    finish(false);
  } catch (error) {
    if (signal.aborted) finish(true);
    else show({ error });
  }
}
