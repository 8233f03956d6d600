import type { Json, JsonObject } from '../operators/index.ts';

/** The size of a response body, added up part by part. */
export interface AnswerSize {
  /** Bytes that may still be added. */
  readonly left: number;
  /** True if other requests add to the answer too. */
  readonly isShared: boolean;
  /** Begins an answer to several requests, with bytes that are sent in any case. */
  share(bytes: number): void;
  /** Adds parts if all of them fit; otherwise adds none and returns false. The first part of an answer always fits: a record can be larger than the limit. */
  add(parts: readonly Json[]): boolean;
  /** Starts a page, whose parts count until `add` adds them as they are sent. */
  page(): PageSize;
}

/** The size of a page that is being loaded. */
export interface PageSize {
  /** Adds a record, with the names of `fieldBytes`, if it fits. Returns false if it does not. The first record of an answer always fits. */
  add(record: Json, fieldBytes: number): boolean;
}

/** Creates the size of an empty answer of at most `limit` bytes. */
export function createAnswerSize(limit: number): AnswerSize {
  const sent = createSum(limit);
  let isShared = false;
  return {
    get left() {
      return sent.left;
    },
    get isShared() {
      return isShared;
    },
    share(bytes) {
      isShared = true;
      sent.reserve(bytes);
    },
    add: (parts) => sent.add(parts, 0),
    page() {
      const sum = createSum(sent.left, sent.isEmpty);
      return { add: (record, fieldBytes) => sum.add([record], fieldBytes) };
    },
  };
}

interface Sum {
  readonly left: number;
  readonly isEmpty: boolean;
  reserve(bytes: number): void;
  add(parts: readonly Json[], extra: number): boolean;
}

/**
 * Adds sizes up to a limit. A part is estimated from above first, which costs little, and serialized only if the estimates do not fit: most
 * answers are far below the limit.
 */
function createSum(limit: number, startsEmpty = true): Sum {
  let isEmpty = startsEmpty;
  let measured = 0;
  let estimated = 0;
  let unmeasured: Json[] = [];

  const measureAll = (): void => {
    for (const part of unmeasured) measured += measure(part);
    unmeasured = [];
    estimated = 0;
  };
  return {
    get left() {
      measureAll();
      return Math.max(0, limit - measured);
    },
    get isEmpty() {
      return isEmpty;
    },
    reserve(bytes) {
      measured += bytes;
    },
    add(parts, extra) {
      let most = extra;
      for (const part of parts) most += estimate(part);
      if (measured + estimated + most <= limit) {
        measured += extra;
        estimated += most - extra;
        unmeasured.push(...parts);
      } else {
        measureAll();
        const bytes = parts.reduce<number>((sum, part) => sum + measure(part), extra);
        if (!isEmpty && measured + bytes > limit) return false;
        measured += bytes;
      }
      isEmpty = false;
      return true;
    },
  };
}

/** Bytes of a UTF-16 unit at most: an escaped control character. */
const UNIT_BYTES = 6;
/** Bytes of a number at most. */
const NUMBER_BYTES = 25;
/** Bytes of a comma, a colon, and the quotes of a name or text. */
const MARKS_BYTES = 4;

/** Returns an upper bound of the bytes of a value in JSON. Allocates nothing, because every record of every list is estimated. */
function estimate(value: Json): number {
  if (typeof value === 'string') return value.length * UNIT_BYTES + MARKS_BYTES;
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES;
  let bytes = MARKS_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += estimate(item as Json);
  else {
    const object = value as JsonObject;
    for (const name in object) bytes += name.length * UNIT_BYTES + MARKS_BYTES + estimate(object[name] ?? null);
  }
  return bytes;
}

/** Returns the bytes of a value in JSON, with a comma behind it. */
function measure(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
