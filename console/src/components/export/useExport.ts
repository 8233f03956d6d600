import { useEffect, useRef, useState } from 'react';
import { type Download, downloadFile, saveFile } from '../../api/download.ts';
import { exportTexts } from '../../texts/export.ts';
import { notifySuccess } from '../notify.ts';
import { printBytes } from '../sizes.ts';
import { createRowCounter, type ExportFormat } from './row-counter.ts';

/** A file to export. */
export interface ExportRequest extends Pick<Download, 'url' | 'method' | 'body'> {
  /** The name to save the file under, without its ending. */
  readonly name: string;
  readonly format: ExportFormat;
}

/** The rows and bytes that have arrived. */
export interface ExportProgress {
  readonly rows: number;
  readonly bytes: number;
}

/** The state of an export: none, one that runs, or one that has failed. */
export interface ExportState {
  readonly progress?: ExportProgress;
  /** True if the export runs so long that its progress is worth a dialog. */
  readonly isSlow?: boolean;
  readonly error?: unknown;
}

const NOTHING: ExportProgress = { rows: 0, bytes: 0 };

/** Milliseconds after which the progress is shown, and between two changes of it. */
const SHOWN_AFTER = 400;
const CHANGED_EVERY = 100;

/** Exports a file until its end, or until it is cancelled or its screen is left. */
export function useExport() {
  const [state, setState] = useState<ExportState>({});
  const last = useRef<ExportRequest>(undefined);
  const control = useRef<AbortController>(undefined);
  useEffect(() => () => control.current?.abort(), []);
  const start = (request: ExportRequest): void => {
    control.current?.abort();
    control.current = new AbortController();
    last.current = request;
    void runExport(request, control.current.signal, setState);
  };
  return {
    ...state,
    start,
    repeat: () => last.current && start(last.current),
    /** Ends the export, and forgets the error of one that has failed. */
    end: () => {
      control.current?.abort();
      setState({});
    },
  };
}

async function runExport(request: ExportRequest, signal: AbortSignal, show: (state: ExportState) => void): Promise<void> {
  const { name, format, ...download } = request;
  const countRows = createRowCounter(format);
  const began = performance.now();
  let progress = NOTHING;
  let shownAt = began;
  const timer = setTimeout(() => show({ progress, isSlow: true }), SHOWN_AFTER);
  show({ progress });
  try {
    const file = await downloadFile({
      ...download,
      signal,
      onBytes(bytes) {
        progress = { rows: countRows(bytes), bytes: progress.bytes + bytes.byteLength };
        const now = performance.now();
        if (now - shownAt < CHANGED_EVERY) return;
        shownAt = now;
        show({ progress, isSlow: now - began >= SHOWN_AFTER });
      },
    });
    saveFile(file, `${name}.${format}`);
    notifySuccess(exportTexts.saved(progress.rows, printBytes(progress.bytes)));
    show({});
  } catch (error) {
    if (!signal.aborted) show({ progress, error });
  } finally {
    clearTimeout(timer);
  }
}
