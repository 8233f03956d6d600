/**
 * The open streams of the audit log of this process. One poll loads new entries for all of them, and admits each reader again. Between
 * polls, no transaction and no connection is open.
 */
import { loadTail, type TailPosition, toPositionText } from '../../audit/index.ts';
import { Problem } from '../../errors.ts';
import { toProblem } from '../../request/index.ts';
import type { Database } from '../../storage/index.ts';
import {
  DecisionStream,
  type ReaderRight,
  type StreamOptions,
  type StreamRequest,
  type TailBatch,
  toBatch,
  wait,
} from './decision-stream.ts';

/** The open streams. */
export interface DecisionStreams {
  /** Throws if the user or the process has too many open streams. @throws Problem REQUEST_RATE, STORAGE_BUSY */
  requireFree(userId: string): void;
  /** Opens a stream. It begins when its text is read. */
  open(request: StreamRequest): AsyncIterable<string>;
  readonly metrics: StreamMetrics;
  /** Ends all streams, and refuses new ones. */
  close(): void;
}

/** The number of open streams, and of events dropped since the start because a reader did not keep up. */
export interface StreamMetrics {
  readonly open: number;
  readonly dropped: number;
}

/** Options of the streams of a process. Tests change them. */
export interface StreamsOptions extends StreamOptions {
  readonly pollMilliseconds: number;
  readonly pingMilliseconds: number;
  readonly maxStreams: number;
  readonly maxPerUser: number;
}

const OPTIONS: StreamsOptions = {
  pollMilliseconds: 500,
  pingMilliseconds: 15_000,
  maxStreams: 100,
  maxPerUser: 10,
  pageEntries: 250,
  queue: { events: 1000, characters: 1_000_000 },
};

/** The pause after a poll, as a multiple of its duration: with very many chains, a poll runs less often. */
const PAUSE_PER_POLL = 4;
/** Maximum milliseconds of this pause, because a poll can also take long for other reasons. */
const MAX_PAUSE = 5000;
/** Failed polls in a row after which the streams end. */
const MAX_FAILURES = 5;
/** Milliseconds before a stream compares its position with that of the others again. */
const JOIN_PAUSE = 20;
/** Seconds in Retry-After of a refused stream. */
const RETRY_SECONDS = 5;

/** Creates the streams of a process. */
export function createDecisionStreams(database: Database, changed: Partial<StreamsOptions> = {}): DecisionStreams {
  const hub = new StreamHub(database, { ...OPTIONS, ...changed });
  return {
    requireFree: (userId) => hub.requireFree(userId),
    open: (request) => ({ [Symbol.asyncIterator]: () => hub.open(request) }),
    get metrics() {
      return { open: hub.streams.size, dropped: hub.dropped };
    },
    close: () => hub.close(),
  };
}

class StreamHub {
  readonly streams = new Set<DecisionStream>();
  dropped = 0;
  readonly #database: Database;
  readonly #options: StreamsOptions;
  /** The streams that have caught up, which receive the entries of each poll. */
  readonly #live = new Set<DecisionStream>();
  /** The position of the live streams. */
  #position: TailPosition | undefined;
  #poll: Promise<void> | undefined;
  #isRunning = false;
  #isClosed = false;

  constructor(database: Database, options: StreamsOptions) {
    this.#database = database;
    this.#options = options;
  }

  requireFree(userId: string): void {
    const { maxStreams, maxPerUser } = this.#options;
    if (this.#isClosed) throw new Problem('STORAGE_BUSY', 'the service is shutting down', { retryAfter: RETRY_SECONDS });
    const own = [...this.streams].filter(({ request }) => request.userId === userId).length;
    if (own >= maxPerUser) throw new Problem('REQUEST_RATE', `a user may have ${maxPerUser} open streams`, { retryAfter: RETRY_SECONDS });
    if (this.streams.size >= maxStreams)
      throw new Problem('STORAGE_BUSY', `this process has ${maxStreams} open streams`, { retryAfter: RETRY_SECONDS });
  }

  open(request: StreamRequest): AsyncIterator<string> {
    const stream = new DecisionStream(request, this.#options, {
      dropped: (events) => {
        this.dropped += events;
      },
      closed: () => this.#remove(stream),
    });
    try {
      // Requests that were admitted at the same time may be too many together.
      this.requireFree(request.userId);
    } catch (error) {
      stream.end(this.#isClosed ? 'shutdown' : 'tooMany', error instanceof Problem ? error.detail : undefined);
      return stream.queue;
    }
    this.streams.add(stream);
    void this.#start(stream);
    void this.#ping(stream);
    return stream.queue;
  }

  close(): void {
    this.#isClosed = true;
    for (const stream of this.streams) stream.end('shutdown', 'the service is shutting down; connect again');
  }

  /** Lets a stream read by itself until the poll can serve it, then adds it to the live streams. */
  async #start(stream: DecisionStream): Promise<void> {
    try {
      let isComplete = (await stream.begin(this.#database)) || (await stream.readPage(this.#database));
      for (;;) {
        // A poll that is running serves the streams that were live when it began, and not this one.
        while (this.#poll !== undefined) await this.#poll;
        if (isComplete && stream.isOver) stream.end('duration');
        if (stream.queue.hasEnded || (!stream.isOver && this.#canServe(stream, isComplete))) break;
        if (isComplete) await wait(JOIN_PAUSE);
        isComplete = await stream.readPage(this.#database);
      }
    } catch (error) {
      stream.end('unavailable', toProblem(error).detail);
    }
    if (stream.queue.hasEnded) return;
    this.#position ??= stream.position;
    this.#live.add(stream);
    if (!this.#isRunning) void this.#run();
  }

  /**
   * Returns true if the stream has received all entries up to the position of the poll. While the poll serves others, the stream need not have
   * received all that are committed: under load there are always more, and each stream would go on to read by itself.
   */
  #canServe(stream: DecisionStream, isComplete: boolean): boolean {
    return (isComplete || this.#live.size > 0) && isAhead(stream.position, this.#position);
  }

  #remove(stream: DecisionStream): void {
    this.streams.delete(stream);
    this.#live.delete(stream);
  }

  /** Polls while there are live streams. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let failures = 0; this.#live.size > 0; ) {
      const began = performance.now();
      const polled = this.#pollOnce().catch(toProblem);
      this.#poll = polled.then(() => undefined);
      const isComplete = await polled;
      this.#poll = undefined;
      // A database that is gone for a moment does not end the streams.
      failures = isComplete instanceof Problem ? failures + 1 : 0;
      if (isComplete instanceof Problem && failures === MAX_FAILURES) this.#endAll(isComplete);
      for (const stream of this.#live) if (stream.queue.hasEnded) this.#live.delete(stream);
      const pause = Math.max(this.#options.pollMilliseconds, Math.min(MAX_PAUSE, (performance.now() - began) * PAUSE_PER_POLL));
      await wait(isComplete === false ? 0 : pause);
    }
    this.#position = undefined;
    this.#isRunning = false;
  }

  #endAll({ detail }: Problem): void {
    for (const stream of this.#live) stream.end('unavailable', detail);
  }

  /** Delivers new entries to the live streams. Returns false if more entries are waiting. */
  async #pollOnce(): Promise<boolean> {
    const base = this.#position;
    if (base === undefined) return true;
    const page = await this.#database.transaction((tx) => loadTail(tx, base, this.#options.pageEntries));
    const verified: DecisionStream[] = [];
    for (const stream of this.#live) if (await stream.verifyToken()) verified.push(stream);
    // In a later transaction than the entries: no entry is sent that was committed after the right of a reader had ended.
    const admissions = await this.#database.transaction(async (tx) => {
      const admitted: (readonly [DecisionStream, ReaderRight | Problem])[] = [];
      for (const stream of verified) admitted.push([stream, await stream.admit(tx, page.entries)]);
      return admitted;
    });
    const batch = toBatch(base, page.entries);
    for (const [stream, admission] of admissions) {
      if (admission instanceof Problem) await stream.refuse(admission);
      else deliverTo(stream, { ...batch, isComplete: page.isComplete }, admission);
      if (stream.isOver) stream.end('duration');
    }
    this.#position = page.position;
    return page.isComplete;
  }

  async #ping(stream: DecisionStream): Promise<void> {
    for (;;) {
      await wait(this.#options.pingMilliseconds);
      if (stream.queue.hasEnded || !this.streams.has(stream)) return;
      // A reader that does not read gets no pings, so that its queue stays bounded.
      if (!stream.queue.isIdle) {
        // No poll admits the reader of a stream that is catching up, and it loads no page before its reader has read.
        if (!this.#live.has(stream)) await stream.recheck(this.#database);
        continue;
      }
      const position = this.#live.has(stream) && stream.position === undefined ? this.#position : undefined;
      stream.queue.addText(`: ping\n${position === undefined ? '' : `id: ${toPositionText(position)}\n`}\n`);
    }
  }
}

/** Delivers a batch. A stream that has just caught up may have received some of its entries. */
function deliverTo(stream: DecisionStream, batch: TailBatch & { readonly isComplete: boolean }, admission: ReaderRight): void {
  const { position } = stream;
  if (position === undefined) {
    stream.deliver(batch, admission);
    return;
  }
  const others = batch.entries.filter(({ writer, sequence }) => sequence > (position.heads.get(writer)?.sequence ?? 0));
  const own = toBatch(position, others);
  stream.deliver(own, admission);
  // Once the other streams have received all entries that this one received before it joined them, it shares their position.
  stream.position = batch.isComplete || isAhead(batch.position, position) ? undefined : own.position;
}

/** Returns true if a stream has received all entries up to the position of the live streams. */
function isAhead(stream: TailPosition | undefined, live: TailPosition | undefined): boolean {
  if (stream === undefined) return false;
  return [...(live?.heads ?? [])].every(([writer, { sequence, at }]) => {
    const received = stream.heads.get(writer)?.sequence;
    return received === undefined ? at < stream.since : received >= sequence;
  });
}
