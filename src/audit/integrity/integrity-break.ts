/** Kinds of breaks of the audit log; `history` is a break of the policies or their versions. */
export const BREAK_KINDS = ['edited', 'missing', 'inserted', 'reordered', 'truncated', 'checkpoint', 'signature', 'history'] as const;

/** One of them. */
export type BreakKind = (typeof BREAK_KINDS)[number];

/** One place where the record is not as it was written. */
export interface Break {
  readonly kind: BreakKind;
  /** The chain, where it is in one. */
  readonly writer?: string | undefined;
  /** The entry's place in it, or the first of those that are missing. */
  readonly sequence?: number | undefined;
  /** Id of the entry, where there is one. */
  readonly id?: string | undefined;
  /** The sentence for people. */
  readonly detail: string;
}
