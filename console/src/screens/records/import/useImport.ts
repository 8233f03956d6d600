import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ImportOptions, importRecords } from '../../../api/import-records.ts';
import type { ColumnMapping } from './column-mapping.ts';
import { type ImportFile, mapFile } from './import-file.ts';
import { type EndedImport, NO_ROWS, type RunningImport, readImport } from './import-run.ts';

/** The file of an import, and its options. */
export interface ImportInput {
  readonly file: ImportFile;
  readonly mapping: ColumnMapping;
  readonly options: ImportOptions;
}

/** An import that has ended, with its file and options. */
export interface FinishedImport extends EndedImport {
  readonly input: ImportInput;
}

interface ImportState {
  readonly running?: RunningImport & { readonly isDryRun: boolean };
  readonly result?: FinishedImport;
}

/** Runs an import until its end, or until it is stopped or its form is closed. */
export function useImport(resource: string) {
  const [state, setState] = useState<ImportState>({});
  const control = useRef<AbortController>(undefined);
  const queryClient = useQueryClient();
  useEffect(() => () => control.current?.abort(), []);
  const start = (input: ImportInput): void => {
    const running = new AbortController();
    control.current = running;
    const show = (progress: RunningImport): void => setState({ running: { ...progress, isDryRun: input.options.dryRun } });
    show({ counts: NO_ROWS, row: 0 });
    const { signal } = running;
    void readImport(sendRows(resource, input, signal), signal, show).then((ended) => {
      setState({ result: { ...ended, input } });
      void queryClient.invalidateQueries({ queryKey: ['records', resource] });
    });
  };
  return { ...state, start, stop: () => control.current?.abort(), reset: () => setState({}) };
}

async function* sendRows(resource: string, { file, mapping, options }: ImportInput, signal: AbortSignal) {
  const { type, delimiter } = file;
  yield* importRecords(resource, { content: await mapFile(file, mapping), type, delimiter, signal }, options);
}
