/** A reader of the audit log who receives entries as they are committed. */
import {
  type AuditEntry,
  type EntryFilter,
  findMatchingEntries,
  loadTail,
  loadTailEnd,
  matchesFilter,
  type TailEntry,
  type TailPosition,
  toPositionText,
} from '../../audit/index.ts';
import { isRefusedToken, Problem } from '../../errors.ts';
import { memoize } from '../../memoize.ts';
import { toProblem } from '../../request/index.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import { type AdmittedRequest, withoutFacts } from '../admission/index.ts';
import { EventQueue, type EventText, joinEvents, type QueueLimits, type QueueObserver, toEvent } from './event-queue.ts';

/** The reason for which a stream has ended. */
export type StreamEnd = 'expired' | 'signedOut' | 'revoked' | 'duration' | 'shutdown' | 'unavailable' | 'tooMany';

/** A request to follow the audit log. */
export interface StreamRequest {
  readonly userId: string;
  readonly filter: EntryFilter;
  /** The position to resume after. Absent: the stream begins with the next committed entry. */
  readonly after: TailPosition | undefined;
  /** Seconds after which the stream ends; absent if it has no limit. */
  readonly seconds: number | undefined;
  /** Throws the problem of a token that has expired. */
  verifyToken(): Promise<void>;
  /** Identifies and admits the caller again. */
  admitAgain(tx: Transaction): Promise<AdmittedRequest | Problem>;
  /** Commits the audit entry of a token that is refused while the stream is open. */
  recordRefusedToken(problem: Problem): Promise<unknown>;
}

/** The right of a reader at the time of a page, and the ids of the entries that the reader may receive; undefined if all. */
export interface ReaderRight {
  readonly isAuditor: boolean;
  readonly readable: ReadonlySet<string> | undefined;
}

/** Options of streams. Tests set them. */
export interface StreamOptions {
  readonly queue: QueueLimits;
  /** Entries that are loaded at once. */
  readonly pageEntries: number;
}

/** A filter of streams. */
interface StreamFilter {
  readonly filter: EntryFilter;
  /** Equal for equal filters. */
  readonly key: string;
}

/** Entries that are sent to streams. */
export interface TailBatch {
  readonly entries: readonly TailEntry[];
  /** The position after all entries. */
  readonly position: TailPosition;
  /** Returns the events of the entries that a stream may send. They are selected and rendered once for all streams with the same filter and right. */
  eventsFor(filter: StreamFilter, right: ReaderRight): readonly EventText[];
}

/** Prepares the events of a page that begins after `base`. */
export function toBatch(base: TailPosition, entries: readonly TailEntry[]): TailBatch {
  const heads = new Map(base.heads);
  const ids = entries.map(({ writer, sequence, entry }) => {
    heads.set(writer, { sequence, at: Date.parse(entry.at) });
    return toPositionText({ since: base.since, heads });
  });
  const texts = [new Map<number, string>(), new Map<number, string>()] as const;
  const textOf = (index: number, isAuditor: boolean): string =>
    memoize(texts[isAuditor ? 1 : 0], index, () =>
      toEvent({ name: 'entry', data: toShown(entries[index]?.entry, isAuditor), id: ids[index] }),
    );
  function* select(filter: EntryFilter, { isAuditor, readable }: ReaderRight): Generator<Omit<EventText, 'events'>> {
    for (const [index, { entry }] of entries.entries()) {
      if (!matchesFilter(filter, entry) || readable?.has(entry.id) === false) continue;
      yield { text: textOf(index, isAuditor), id: ids[index] ?? '' };
    }
  }
  const shared = new Map<string, readonly EventText[]>();
  return {
    entries,
    position: { since: base.since, heads },
    eventsFor({ filter, key }, right) {
      // The condition of a rule is that of one reader alone.
      if (right.readable !== undefined) return joinEvents(select(filter, right));
      return memoize(shared, `${right.isAuditor} ${key}`, () => joinEvents(select(filter, right)));
    },
  };
}

/** One stream. It reads by itself until it has caught up, then `DecisionStreams` delivers new entries to it. */
export class DecisionStream {
  readonly request: StreamRequest;
  readonly queue: EventQueue;
  readonly #options: StreamOptions;
  readonly #began = performance.now();
  readonly #filter: StreamFilter;
  /** The position of a stream that reads by itself, or that has just caught up and may be ahead of the other streams. */
  position: TailPosition | undefined;

  constructor(request: StreamRequest, options: StreamOptions, observer: QueueObserver) {
    this.request = request;
    this.#filter = { filter: request.filter, key: JSON.stringify(request.filter) };
    this.#options = options;
    this.queue = new EventQueue(options.queue, observer);
    this.position = request.after;
    // Sends the headers at once.
    this.queue.addText('retry: 2000\n\n');
  }

  /** True if the duration that the client wants is over. */
  get isOver(): boolean {
    const { seconds } = this.request;
    return seconds !== undefined && performance.now() - this.#began >= seconds * 1000;
  }

  end(reason: StreamEnd, detail?: string): void {
    this.queue.end(toEvent({ name: 'end', data: { reason, ...(detail !== undefined && { detail }) } }));
  }

  /** Begins at the end of the log, unless the reader resumes after an event. Returns true if there is nothing to read yet. */
  async begin(database: Database): Promise<boolean> {
    if (this.position !== undefined) return false;
    this.position = await database.transaction((tx) => loadTailEnd(tx), { caller: this.request.userId, beginsLong: true });
    this.queue.addText(`id: ${toPositionText(this.position)}\n\n`);
    return true;
  }

  /** Loads the next page after the position of this stream, and adds its events. Returns true if the stream has caught up. */
  async readPage(database: Database): Promise<boolean> {
    await this.queue.whenIdle();
    const base = this.position;
    if (this.queue.hasEnded || base === undefined) return false;
    const how = { caller: this.request.userId, beginsLong: true };
    const page = await database.transaction((tx) => loadTail(tx, base, this.#options.pageEntries), how);
    if (!(await this.verifyToken())) return false;
    // In a later transaction than the entries: no entry is sent that was committed after the right of the reader had ended.
    const admission = await database.transaction((tx) => this.admit(tx, page.entries), { caller: this.request.userId });
    if (admission instanceof Problem) return this.refuse(admission);
    // The queue is empty, and the page is bounded: nothing is dropped.
    for (const { text, events } of toBatch(base, page.entries).eventsFor(this.#filter, admission)) this.queue.addText(text, events);
    this.position = page.position;
    return page.isComplete;
  }

  /** Ends the stream if its duration is over, or if its reader is no longer admitted. */
  async recheck(database: Database): Promise<void> {
    try {
      if (!(await this.verifyToken())) return;
      const admission = await database.transaction((tx) => this.admit(tx, []), { caller: this.request.userId });
      if (admission instanceof Problem) await this.refuse(admission);
      else if (this.isOver) this.end('duration');
    } catch (error) {
      this.end('unavailable', toProblem(error).detail);
    }
  }

  /** Returns true if the token has not expired; ends the stream otherwise. */
  async verifyToken(): Promise<boolean> {
    try {
      await this.request.verifyToken();
      return true;
    } catch (error) {
      if (error instanceof Problem) return this.refuse(error);
      throw error;
    }
  }

  /** Admits the reader again. Returns the problem of a reader who is no longer admitted, or whose user is damaged. Throws those that concern all readers. */
  async admit(tx: Transaction, entries: readonly TailEntry[]): Promise<ReaderRight | Problem> {
    const caller = await this.#admitCaller(tx);
    if (caller instanceof Problem) return caller;
    const where = caller.auditor?.where;
    const matching = where === undefined ? [] : entries.filter(({ entry }) => matchesFilter(this.request.filter, entry));
    const found = matching.map(({ entry }) => entry);
    return {
      isAuditor: caller.auditor !== undefined,
      readable: where === undefined ? undefined : await findMatchingEntries(tx, found, where),
    };
  }

  async #admitCaller(tx: Transaction): Promise<AdmittedRequest | Problem> {
    try {
      return await this.request.admitAgain(tx);
    } catch (error) {
      if (error instanceof Problem && (error.status === 401 || error.code === 'STORAGE_DAMAGED')) return error;
      throw error;
    }
  }

  /** Ends the stream of a reader who is not admitted, after the audit entry of a refused token is committed. */
  async refuse(problem: Problem): Promise<false> {
    const { detail } = problem;
    const reason = toStreamEnd(problem);
    // Entries that wait were readable when they were loaded, but their reader may no longer be the user who logged in.
    if (reason !== 'expired') this.queue.discard();
    try {
      if (isRefusedToken(problem)) await this.request.recordRefusedToken(problem);
      this.end(reason, detail);
    } catch (error) {
      this.end('unavailable', toProblem(error).detail);
    }
    return false;
  }

  /** Adds the events of the entries that the stream may send, or drops them if the reader does not keep up. */
  deliver(batch: TailBatch, right: ReaderRight): void {
    for (const events of batch.eventsFor(this.#filter, right)) this.queue.add(events);
  }
}

function toShown(entry: AuditEntry | undefined, isAuditor: boolean): AuditEntry | undefined {
  return isAuditor && entry !== undefined ? withoutFacts(entry) : entry;
}

/** Waits without keeping the process alive. */
export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

function toStreamEnd({ code, status }: Problem): StreamEnd {
  if (code === 'IDENTITY_TOKEN_EXPIRED') return 'expired';
  if (code === 'STORAGE_DAMAGED') return 'unavailable';
  return status === 401 ? 'signedOut' : 'revoked';
}
