import { Problem } from '../errors.ts';

/**
 * A position in the audit log, up to which a reader has received the entries. Writers commit concurrently, so the position has the last
 * received entry of each hash chain: a time alone would miss entries that commit later than others with a later time.
 */
export interface TailPosition {
  /** Milliseconds since 1970. Of chains that are not in `heads`, the reader has received no entry since then, and all entries before. */
  readonly since: number;
  /** The last received entry by chain. */
  readonly heads: ReadonlyMap<string, TailHead>;
}

/** The last received entry of a chain. */
export interface TailHead {
  /** 0 if no entry of the chain was received. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Milliseconds by which the commit of an entry can be later than its time: an entry has the time at which its transaction began. Positions
 * are exact for transactions that are not longer.
 */
export const MAX_COMMIT_DELAY = 60 * 60_000;

/** Maximum chains in the text of a position. The text is sent with each entry, and as a header by clients that resume. */
const MAX_CHAINS = 400;
/** Maximum characters of the text of a position. */
export const MAX_POSITION_TEXT = 16 + MAX_CHAINS * 34;

/** The time in base 36: eight characters from 1972 to 2059. */
const SINCE = /^[0-9a-z]{8}$/;
const CHAIN = /^([\w-]{22})([0-9a-z]{1,11})$/;

/**
 * Renders a position as a text of letters, digits, `.`, `-` and `_`. Chains without recent entries are left out, so the length depends on
 * the number of active writers and not on the number of restarts.
 */
export function toPositionText({ since, heads }: TailPosition): string {
  const recent = [...heads].filter(([, { at }]) => at >= since - MAX_COMMIT_DELAY);
  const kept = recent.length <= MAX_CHAINS ? recent : recent.toSorted(([, a], [, b]) => b.at - a.at).slice(0, MAX_CHAINS);
  return [since.toString(36), ...kept.map(([writer, { sequence }]) => `${toShort(writer)}${sequence.toString(36)}`)].join('.');
}

/** Parses the text of a position. @throws Problem REQUEST_CURSOR */
export function parsePositionText(text: string, now: number): TailPosition {
  const [since = '', ...chains] = text.length > MAX_POSITION_TEXT ? [] : text.split('.');
  const heads = chains.map((chain) => CHAIN.exec(chain));
  if (!SINCE.test(since) || Number.parseInt(since, 36) > now || heads.includes(null)) throw malformed();
  return {
    since: Number.parseInt(since, 36),
    // The times are not in the text. With the present time, the next position contains the chains too.
    heads: new Map(heads.map((head) => [toWriter(head?.[1] ?? ''), { sequence: Number.parseInt(head?.[2] ?? '', 36), at: now }])),
  };
}

function malformed(): Problem {
  return new Problem('REQUEST_CURSOR', 'expected the id of an event of this stream', {
    hint: 'without a position, the stream begins with the next entry',
  });
}

/** Returns a UUID in 22 characters. */
function toShort(writer: string): string {
  return Buffer.from(writer.replaceAll('-', ''), 'hex').toString('base64url');
}

function toWriter(short: string): string {
  const hex = Buffer.from(short, 'base64url').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
