import { useEffect, useRef, useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import { addPage, NO_TOTALS, type PreviewTotals } from './preview-totals.ts';

/** Audit entries in a page. */
const PAGE = 2000;
const HOURS = { '24h': 24, '7d': 168, '30d': 720, all: undefined } as const;

/** The question of a preview. */
export interface PreviewInput {
  readonly draft: Draft;
  readonly range: keyof typeof HOURS;
  /** True to take values that were not kept from the records of today. */
  readonly fill: boolean;
}

/** A preview that runs page by page, so that its figures grow. */
export interface RunningPreview {
  readonly totals: PreviewTotals | undefined;
  readonly warnings: readonly string[];
  readonly error: unknown;
  readonly isRunning: boolean;
  start(input: PreviewInput): void;
  stop(): void;
}

interface State {
  readonly totals?: PreviewTotals;
  readonly warnings: readonly string[];
  readonly error?: unknown;
  readonly isRunning: boolean;
}

/** Replays the audit log page by page until its end, or until it is stopped or left. */
export function usePreview(): RunningPreview {
  const [state, setState] = useState<State>({ isRunning: false, warnings: [] });
  const running = useRef<AbortController>(undefined);
  const stop = (): void => running.current?.abort();
  useEffect(() => () => running.current?.abort(), []);
  const start = (input: PreviewInput): void => {
    stop();
    const control = new AbortController();
    running.current = control;
    void replay(input, control.signal, setState);
  };
  const { totals, warnings, error, isRunning } = state;
  return { totals, warnings, error, isRunning, start, stop };
}

async function replay({ draft, range, fill }: PreviewInput, signal: AbortSignal, show: (state: State) => void): Promise<void> {
  const hours = HOURS[range];
  const filter = hours === undefined ? {} : { filter: { from: new Date(Date.now() - hours * 3_600_000).toISOString() } };
  let totals = NO_TOTALS;
  let warnings: readonly string[] = [];
  let cursor: string | undefined;
  show({ totals, warnings, isRunning: true });
  try {
    do {
      const body = { draft, fill, limit: PAGE, ...filter, ...(cursor !== undefined && { cursor }) };
      const page = await bodyOf(client.POST('/admin/api/policies/preview', { body, signal }));
      totals = addPage(totals, page.data);
      warnings = (page.warnings ?? []).map(({ detail, todo }) => `${detail}; ${todo}.`);
      cursor = page.nextCursor;
      show({ totals, warnings, isRunning: cursor !== undefined });
    } while (cursor !== undefined && !signal.aborted);
    show({ totals, warnings, isRunning: false });
  } catch (error) {
    show(signal.aborted ? { totals, warnings, isRunning: false } : { totals, warnings, error, isRunning: false });
  }
}
