import { useEffect, useRef, useState } from 'react';
import { openEvents } from '../../api/event-stream.ts';
import { RequestError } from '../../api/problem.ts';
import { toFilters, toParameters } from './filters.ts';
import type { Entry } from './queries.ts';
import type { DecisionsSearch } from './search.ts';

/** Entries that are kept, the newest first; older ones are removed. */
const MAX_ENTRIES = 5000;
/** Milliseconds between two renders. */
const RENDER_EVERY = 250;
/** Milliseconds before a lost connection is opened again. */
const RECONNECT_AFTER = 2000;

/** The state of a stream. */
export interface LiveEntries {
  readonly entries: readonly Entry[];
  /** Entries that have arrived since the pause. */
  readonly held: number;
  /** Entries that the service left out. */
  readonly dropped: number;
  /** The reason why the stream has ended; undefined while it is open. */
  readonly end: string | undefined;
}

const NONE: LiveEntries = { entries: [], held: 0, dropped: 0, end: undefined };

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
    void follow(filters, control.signal, {
      onEntry: (entry) => arrived.unshift(entry),
      onDropped: (count) => change({ dropped: present.dropped + count }),
      onEnd: (end) => change({ end }),
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

interface Listener {
  onEntry(entry: Entry): void;
  onDropped(count: number): void;
  onEnd(reason: string | undefined): void;
}

async function follow(filters: string, signal: AbortSignal, listener: Listener): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    const url = new URL(`/admin/api/decisions/stream?${filters}`, location.origin);
    if (after !== undefined) url.searchParams.set('after', after);
    try {
      for await (const { name, data, id } of openEvents(url, signal)) {
        after = id ?? after;
        const content = JSON.parse(data);
        if (name === 'entry') listener.onEntry(content);
        else if (name === 'dropped') listener.onDropped(content.count);
        else if (name === 'end') return listener.onEnd(content.detail ?? content.reason);
      }
    } catch (error) {
      // A refusal is final; a lost connection is opened again.
      if (signal.aborted) return;
      if (error instanceof RequestError && error.problem.status !== 0 && error.problem.status < 500) return listener.onEnd(error.message);
    }
    await new Promise((done) => setTimeout(done, RECONNECT_AFTER));
  }
}
