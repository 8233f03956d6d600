import { AUDIT_LOG_NAME } from '../authz/policies/index.ts';
import { createId } from '../ids.ts';
import type { JsonObject } from '../operators/index.ts';
import type { ENTRY_KINDS } from '../resources/system/index.ts';

/** The `resource` of the entries of requests to the admin endpoints that change nothing. */
export const ADMIN_RESOURCE = 'Admin';

/** The `resource` of the entries of kind `auth`. */
export const AUTH_RESOURCE = 'Auth';

/** The values of `resource` in the entries of requests to the admin endpoints that change something. */
export const ADMIN_CHANGE_RESOURCES = ['Policy', 'RolePolicy', 'Session', 'UserPolicy'] as const;

/** The values of `resource` in entries that name no resource of the project. Commands that change all resources write `*`. */
export const OTHER_SUBJECTS: readonly string[] = [ADMIN_RESOURCE, AUTH_RESOURCE, ...ADMIN_CHANGE_RESOURCES, AUDIT_LOG_NAME, '*'];

/** An entry of the audit log: a decision, an event of authentication, or a request of an admin or a command. */
export interface AuditEntry {
  /** UUIDv7. */
  readonly id: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly at: string;
  /**
   * `access` entries count as grants and denials in analytics, and `repeat` entries as the number of denials that they record; entries of
   * the other kinds do not. An `evaluation` is a question of a caller about their own permissions.
   */
  readonly kind: (typeof ENTRY_KINDS)[number];
  /** Undefined for `anon`, and for changes by a command. The entry of a refused login names the user of the email, if there is one. */
  readonly userId?: string | undefined;
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  /** In `auth` entries, the id of the session. */
  readonly recordId?: string | undefined;
  readonly allowed: boolean;
  /** The reason. It contains no attribute values. The client receives the same text, except for `auth` entries. */
  readonly reason: string;
  /** The rule that decided, and its policy; undefined if no rule fired. */
  readonly ruleId?: string | undefined;
  readonly policyId?: string | undefined;
  /** The revision of the policies that the decision used. */
  readonly epoch: number;
  readonly requestId: string;
  readonly ip: string;
  /** The code of the problem with which an allowed request failed, or authentication was refused. */
  readonly outcome?: string | undefined;
  /**
   * The values that conditions read, by path: see `factsOf`. Names without a dot are no paths: `fields` are the names of the fields that an
   * update gives values for, `changedRecord` is true if an update was denied on the record as it would store it, `question` is that of an admin
   * who reads, or of an evaluation, `dryRun` is true in a dry run of a deletion, and `emailHash` the keyed hash of the email of a login.
   */
  readonly facts?: JsonObject | undefined;
}

/** The facts of an entry of kind `repeat`, and of an entry of kind `auth` that records repeated refusals. */
export type RepeatFacts = {
  /** Id of the entry of the first denial, which `count` does not include. */
  readonly first: string;
  /** Time of that entry. */
  readonly since: string;
  /** Time of the last repeated denial. */
  readonly last: string;
  /** Number of repeated denials. */
  readonly count: number;
};

/** Creates an id for an entry. Ids of one process sort in the order of their creation. */
export function createEntryId(): string {
  return createId();
}
