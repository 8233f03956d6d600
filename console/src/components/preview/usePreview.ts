import { useEffect, useRef, useState } from 'react';
import { bodyOf, client } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import { type PreviewSearch, toPreviewFilter } from './preview-search.ts';
import { addPage, NO_TOTALS, type PreviewTotals } from './preview-totals.ts';

/** Audit entries in a page. */
const PAGE = 2000;

/** The question of a preview. */
export interface PreviewInput {
  readonly draft: Draft;
  readonly search: PreviewSearch;
  /** Number of pages after which the preview ends; all pages if absent. */
  readonly pages?: number;
}

interface State {
  /** The question that the figures answer. */
  readonly input?: PreviewInput;
  readonly totals?: PreviewTotals;
  readonly warnings: readonly string[];
  readonly error?: unknown;
  readonly isRunning: boolean;
}

/** A preview that runs page by page, so that its figures grow. */
export interface RunningPreview extends State {
  start(input: PreviewInput): void;
  stop(): void;
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
    // An answer of the former question must not replace those of this one.
    void replay(input, control.signal, (next) => running.current === control && setState(next));
  };
  return { ...state, start, stop };
}

async function replay(input: PreviewInput, signal: AbortSignal, show: (state: State) => void): Promise<void> {
  const { draft, search, pages = Number.POSITIVE_INFINITY } = input;
  const question = { draft, fill: search.fill === true, limit: PAGE, filter: toPreviewFilter(search, Date.now()) };
  let totals = NO_TOTALS;
  let warnings: readonly string[] = [];
  let cursor: string | undefined;
  show({ input, totals, warnings, isRunning: true });
  try {
    for (let left = pages; left > 0; left--) {
      const body = { ...question, ...(cursor !== undefined && { cursor }) };
      const page = await bodyOf(client.POST('/admin/api/policies/preview', { body, signal }));
      totals = addPage(totals, page.data);
      if (cursor === undefined) warnings = (page.warnings ?? []).map(({ detail, todo }) => `${detail}; ${todo}.`);
      cursor = page.nextCursor;
      if (cursor === undefined || signal.aborted) break;
      show({ input, totals, warnings, isRunning: true });
    }
    show({ input, totals, warnings, isRunning: false });
  } catch (error) {
    show({ input, totals, warnings, isRunning: false, ...(!signal.aborted && { error }) });
  }
}
