/** The messages between the main thread and a reader thread. */

/** The data with which a reader thread starts. */
export interface ReaderStart {
  readonly path: string;
  /** Device and inode of the database file; the thread refuses another file at the same path. */
  readonly dev: number;
  readonly ino: number;
  /** One 32-bit integer, shared by the threads: 1 to end the running statement at its next deadline check. */
  readonly cancelled: SharedArrayBuffer;
}

/** A message to a reader thread. The first query begins a snapshot, and `end` closes it. */
export type ReaderRequest =
  | {
      readonly type: 'query';
      readonly id: number;
      readonly sql: string;
      readonly parameters: readonly unknown[];
      readonly milliseconds: number;
    }
  /** Requests the next part of the rows of a query. */
  | { readonly type: 'more'; readonly id: number }
  | { readonly type: 'end' }
  | { readonly type: 'close' };

/** A message from a reader thread: a part of an answer, or the end of the snapshot. */
export type ReaderReply = QueryReply | { readonly isEnded: true };

/** A part of the rows of a query, or its error. */
export type QueryReply =
  | {
      readonly id: number;
      readonly rows: readonly Readonly<Record<string, unknown>>[];
      readonly isLast: boolean;
      /** Milliseconds of the statement. */
      readonly milliseconds: number;
    }
  | { readonly id: number; readonly error: ReaderError; readonly milliseconds: number };

/** The error of a statement in a reader thread: the time is up, or an error of the driver with its code. */
export interface ReaderError {
  readonly isTimeout: boolean;
  readonly code: string;
  readonly message: string;
}
