/** Maximum events and characters that wait for a reader. */
export interface QueueLimits {
  readonly events: number;
  readonly characters: number;
}

/** Callbacks of a queue. */
export interface QueueObserver {
  /** Called with the number of events that were dropped. */
  dropped(events: number): void;
  /** Called once when no more text is read. */
  closed(): void;
}

/** Maximum characters of a chunk, if it has more than one event. */
const CHUNK = 32_768;

/** The text of one or more events. */
export interface EventText {
  readonly text: string;
  /** The number of events. */
  readonly events: number;
  /** The position after the last event. */
  readonly id: string;
}

/** Joins the texts of single events into chunks, which many queues can share. */
export function joinEvents(events: Iterable<Omit<EventText, 'events'>>): readonly EventText[] {
  const chunks: EventText[] = [];
  let [texts, length, last]: [string[], number, string] = [[], 0, ''];
  const endChunk = (): void => void chunks.push({ text: texts.join(''), events: texts.length, id: last });
  for (const { text, id } of events) {
    if (texts.length > 0 && length + text.length > CHUNK) {
      endChunk();
      [texts, length] = [[], 0];
    }
    texts.push(text);
    length += text.length;
    last = id;
  }
  if (texts.length > 0) endChunk();
  return chunks;
}

/**
 * Events that wait for a reader, rendered as Server-Sent Events. Its size is bounded: if a reader does not keep up, new events are dropped and
 * counted until the reader has received all that waited. The reader then receives the number.
 */
export class EventQueue implements AsyncIterator<string> {
  readonly #limits: QueueLimits;
  readonly #observer: QueueObserver;
  #texts: Omit<EventText, 'id'>[] = [];
  #events = 0;
  #characters = 0;
  #dropped = 0;
  #droppedUpTo = '';
  #end: string | undefined;
  #isClosed = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  constructor(limits: QueueLimits, observer: QueueObserver) {
    this.#limits = limits;
    this.#observer = observer;
  }

  /** True if the reader has received everything and waits for more. */
  get isIdle(): boolean {
    return this.#wakeReader !== undefined && this.#end === undefined;
  }

  /** True if no more events can be added. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Resolves when the reader has received everything, or the queue has ended. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle && !this.hasEnded) await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
  }

  /** Adds events, or drops them together. */
  add({ text, events, id }: EventText): void {
    if (this.#end !== undefined) return;
    const fits = this.#events + events <= this.#limits.events && this.#characters + text.length <= this.#limits.characters;
    if (this.#dropped === 0 && fits) {
      this.addText(text, events);
      return;
    }
    this.#dropped += events;
    this.#droppedUpTo = id;
    this.#observer.dropped(events);
    // A reader who waits receives the number at once, and not after the next event.
    this.#wake();
  }

  /** Adds the text of events, or a comment, which is never dropped. The caller must limit its length. */
  addText(text: string, events = 0): void {
    if (this.#end !== undefined) return;
    this.#texts.push({ text, events });
    this.#events += events;
    this.#characters += text.length;
    this.#wake();
  }

  /** Ends the stream with a last event. */
  end(text: string): void {
    if (this.#end !== undefined) return;
    this.#end = text;
    this.#wake();
  }

  /** Drops the events that wait. They have no position of their own any more: a client that resumes receives them again if it may. */
  discard(): void {
    this.#dropped += this.#events;
    this.#observer.dropped(this.#events);
    this.#texts = [];
    this.#events = 0;
    this.#characters = 0;
    this.#droppedUpTo = '';
  }

  async next(): Promise<IteratorResult<string>> {
    for (;;) {
      const value = this.#take();
      if (value !== undefined) return { done: false, value };
      if (this.#end === '') {
        this.#close();
        return { done: true, value: undefined };
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wakeReader = resolve;
      this.#wakeWriter?.();
      await promise;
    }
  }

  /** Ends the stream at once: the client has disconnected. */
  async return(): Promise<IteratorResult<string>> {
    this.#texts = [];
    this.#dropped = 0;
    this.#end = '';
    this.#close();
    this.#wake();
    return { done: true, value: undefined };
  }

  /** Takes the next text to send: events, then the number of dropped events, then the last event. */
  #take(): string | undefined {
    if (this.#texts.length > 0) return this.#takeEvents();
    if (this.#dropped > 0) {
      const text = toEvent({ name: 'dropped', data: { count: this.#dropped }, id: this.#droppedUpTo });
      this.#dropped = 0;
      return text;
    }
    const text = this.#end === '' ? undefined : this.#end;
    if (text !== undefined) this.#end = '';
    return text;
  }

  #takeEvents(): string {
    let count = 0;
    let length = 0;
    for (const { text, events } of this.#texts) {
      if (count > 0 && length + text.length > CHUNK) break;
      count++;
      length += text.length;
      this.#events -= events;
    }
    this.#characters -= length;
    const taken = this.#texts.splice(0, count);
    return count === 1 ? (taken[0]?.text ?? '') : taken.map(({ text }) => text).join('');
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#observer.closed();
  }

  #wake(): void {
    const [reader, writer] = [this.#wakeReader, this.#wakeWriter];
    [this.#wakeReader, this.#wakeWriter] = [undefined, undefined];
    reader?.();
    writer?.();
  }
}

/** An event of a stream. */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
  /** The position to resume after; absent if the position does not change. */
  readonly id?: string | undefined;
}

/** Renders a Server-Sent Event. JSON has no line ends, so no text can begin another event. */
export function toEvent({ name, data, id }: StreamEvent): string {
  const position = id === undefined || id === '' ? '' : `id: ${id}\n`;
  return `${position}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
