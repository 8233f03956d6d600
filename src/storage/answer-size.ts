import type { Json, JsonObject } from '../operators/index.ts';

/** The size of a response body, added up part by part. */
export interface AnswerSize {
  /** Bytes that may still be added. */
  readonly left: number;
  /** True if other requests add to the answer too. */
  readonly isShared: boolean;
  /** Begins an answer to several requests, with bytes that are sent in any case. */
  share(bytes: number): void;
  /** Adds a part if it fits. Returns false if it does not. The first part of an answer always fits: a record can be larger than the limit. */
  add(part: Json): boolean;
  /** Starts a page. Its records are counted separately while they are loaded; `add` then counts them as they are sent. */
  page(): PageSize;
}

/** The size of a page that is being loaded. */
export interface PageSize {
  /** An upper bound of the bytes of all records that were added. */
  readonly estimated: number;
  /** Adds a record, with the names of `fieldBytes`, if it fits. Returns false if it does not. The first record of an answer always fits. */
  add(record: Json, fieldBytes: number): boolean;
}

/** Creates the size of an empty answer of at most `limit` bytes. */
export function createAnswerSize(limit: number): AnswerSize {
  return new SharedSize(limit);
}

/** The share of the limit up to which parts are only estimated. Above it, two parts are measured whenever one is added. */
const ESTIMATED_SHARE = 0.5;

/**
 * Adds sizes up to a limit. A part is estimated from above first, which costs little, and serialized only if the estimates do not fit: most
 * answers are far below the limit.
 */
class Sum implements PageSize {
  readonly #limit: number;
  #isEmpty: boolean;
  #measured = 0;
  /** The estimates of the parts in `#unmeasured`. */
  #pending = 0;
  #unmeasured: Json[] = [];
  estimated = 0;

  constructor(limit: number, isEmpty: boolean) {
    this.#limit = limit;
    this.#isEmpty = isEmpty;
  }

  get left(): number {
    this.#measureAll();
    return Math.max(0, this.#limit - this.#measured);
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  reserve(bytes: number): void {
    this.#measured += bytes;
  }

  add(part: Json, extra: number): boolean {
    const most = estimate(part);
    this.estimated += most;
    if (this.#measured + this.#pending + most + extra <= this.#limit) {
      this.#measured += extra;
      this.#pending += most;
      this.#unmeasured.push(part);
      if (this.#measured + this.#pending > this.#limit * ESTIMATED_SHARE) this.#measureLast();
    } else {
      this.#measureAll();
      const bytes = measure(part) + extra;
      if (!this.#isEmpty && this.#measured + bytes > this.#limit) return false;
      this.#measured += bytes;
    }
    this.#isEmpty = false;
    return true;
  }

  /** Measures the last two parts. To measure many large parts at once, when the estimates no longer fit, would delay other requests. */
  #measureLast(): void {
    for (const part of this.#unmeasured.splice(-2)) {
      this.#measured += measure(part);
      this.#pending -= estimate(part);
    }
  }

  #measureAll(): void {
    if (this.#unmeasured.length === 0) return;
    for (const part of this.#unmeasured) this.#measured += measure(part);
    this.#unmeasured = [];
    this.#pending = 0;
  }
}

class SharedSize implements AnswerSize {
  readonly #sent: Sum;
  isShared = false;

  constructor(limit: number) {
    this.#sent = new Sum(limit, true);
  }

  get left(): number {
    return this.#sent.left;
  }

  share(bytes: number): void {
    this.isShared = true;
    this.#sent.reserve(bytes);
  }

  add(part: Json): boolean {
    return this.#sent.add(part, 0);
  }

  page(): PageSize {
    return new Sum(this.#sent.left, this.#sent.isEmpty);
  }
}

/** Maximum bytes of a UTF-16 unit in JSON: an escaped control character. */
const UNIT_BYTES = 6;
/** Maximum bytes of a number in JSON. */
const NUMBER_BYTES = 25;
/** Bytes of a comma, a colon, and the quotes of a name or text. */
const MARKS_BYTES = 4;

/** Returns an upper bound of the bytes of a value in JSON. */
const estimate = (value: Json): number => addSizes(value, UNIT_BYTES);

/** Returns about the number of characters of a value in JSON, more if it has many numbers. */
export const charactersOf = (value: Json): number => addSizes(value, 1);

/**
 * Adds up the sizes of the parts of a value. Allocates nothing and adds texts without a call for each, because every record of every list
 * is estimated.
 */
function addSizes(value: Json, unit: number): number {
  if (typeof value === 'string') return value.length * unit + MARKS_BYTES;
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES;
  let size = MARKS_BYTES;
  if (Array.isArray(value)) for (const item of value) size += addSizes(item as Json, unit);
  else {
    const object = value as JsonObject;
    for (const name in object) {
      const member = object[name] ?? null;
      size += name.length * unit + MARKS_BYTES;
      size += typeof member === 'string' ? member.length * unit + MARKS_BYTES : addSizes(member, unit);
    }
  }
  return size;
}

/** Returns the bytes of a value in JSON, with a comma behind it. */
function measure(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
