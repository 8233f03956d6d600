import { useEffect, useRef, useState } from 'react';
import { openEvents } from '../../api/event-stream.ts';
import { toFilters, toParameters } from './filters.ts';
import { followEntries } from './follow-entries.ts';
import type { Entry } from './queries.ts';
import type { DecisionsSearch } from './search.ts';

/** Entries that are kept, the newest first; older ones are removed. */
const MAX_ENTRIES = 5000;
/** Milliseconds between two renders. */
const RENDER_EVERY = 250;

/** The state of a stream. */
export interface LiveEntries {
  readonly entries: readonly Entry[];
  /** Entries that have arrived since the pause. */
  readonly held: number;
  /** Entries that the service left out. */
  readonly dropped: number;
  /** The reason why the stream has ended; undefined while it is open. */
  readonly end: string | undefined;
  /** True while a lost connection is not open again. */
  readonly isReconnecting: boolean;
}

const NONE: LiveEntries = { entries: [], held: 0, dropped: 0, end: undefined, isReconnecting: false };

/** Follows the audit log. A lost connection resumes after the last received entry, so that none is missing or repeated. */
export function useLiveEntries(search: DecisionsSearch, isPaused: boolean): LiveEntries {
  const [shown, setShown] = useState(NONE);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const { from: _, to: __, ...conditions } = search;
  const filters = new URLSearchParams(toParameters(toFilters({ ...conditions, range: 'all' }, 0)).map((pair) => [...pair])).toString();
  useEffect(() => {
    const control = new AbortController();
    let present = NONE;
    let arrived: Entry[] = [];
    const change = (next: Partial<LiveEntries>): void => {
      present = { ...present, ...next };
    };
    const { signal } = control;
    void followEntries((after, onOpen) => openEvents(streamUrl(filters, after), signal, onOpen), signal, {
      onEntry: (entry) => arrived.unshift(entry),
      onDropped: (count) => change({ dropped: present.dropped + count }),
      onEnd: (end) => change({ end, isReconnecting: false }),
      onConnection: (isOpen) => change({ isReconnecting: !isOpen }),
    });
    const timer = setInterval(() => {
      if (paused.current) {
        arrived = arrived.slice(0, MAX_ENTRIES);
        change({ held: arrived.length });
      } else {
        change({ entries: arrived.length === 0 ? present.entries : [...arrived, ...present.entries].slice(0, MAX_ENTRIES), held: 0 });
        arrived = [];
      }
      setShown(present);
    }, RENDER_EVERY);
    return () => {
      control.abort();
      clearInterval(timer);
    };
  }, [filters]);
  return shown;
}

function streamUrl(filters: string, after: string | undefined): URL {
  const url = new URL(`/admin/api/decisions/stream?${filters}`, location.origin);
  if (after !== undefined) url.searchParams.set('after', after);
  return url;
}
