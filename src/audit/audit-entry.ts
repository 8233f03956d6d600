import { createId } from '../ids.ts';
import type { JsonObject } from '../operators/index.ts';

/** One line of the record: a decision that was made, or a change that an admin made. */
export interface AuditEntry {
  /** UUIDv7. */
  readonly id: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly at: string;
  /** `access` counts as a grant or a denial; `admin` does not. */
  readonly kind: 'access' | 'admin';
  /** Undefined for `anon`. */
  readonly userId?: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  readonly recordId?: string | undefined;
  readonly allowed: boolean;
  /** As told to the caller: it carries no attribute values. */
  readonly reason: string;
  /** The rule that decided, and its policy; undefined where none fired. */
  readonly ruleId?: string | undefined;
  readonly policyId?: string | undefined;
  /** Epoch of the policies it was made under. */
  readonly epoch: number;
  readonly requestId: string;
  readonly ip: string;
  /** Problem code, where an allowed request failed all the same. */
  readonly outcome?: string | undefined;
  /** What the conditions read, by path: see `factsOf`. */
  readonly facts?: JsonObject | undefined;
}

/** An id for an entry; later ones sort after earlier ones of the same process. */
export function createEntryId(): string {
  return createId();
}
