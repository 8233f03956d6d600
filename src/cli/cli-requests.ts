/** The input of the functions that commands call. */
import type { ASSIGNABLE_ROLES } from '../resources/index.ts';

/** A user to create. */
export interface CliUser {
  readonly email: string;
  readonly name: string;
  /** The role; undefined for the default of the definition. */
  readonly role: string | undefined;
  readonly password: string;
}

/** A file of policies to import. */
export interface CliPolicyFile {
  /** Email of the admin. */
  readonly as: string;
  readonly mediaType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly dryRun: boolean;
  /** The reason of the change. */
  readonly reason?: string | undefined;
}

/** A policy in the form of an import, with the file that contains it. */
export interface CliPolicyOfFile {
  readonly file: string;
  readonly policy: { readonly [member: string]: CliJson };
}

type CliJson = string | number | boolean | null | readonly CliJson[] | { readonly [member: string]: CliJson };

/** An application of policy files. */
export interface CliApplication {
  /** Email of the admin. */
  readonly as: string;
  readonly policies: readonly CliPolicyOfFile[];
  /** The treatment of policies that files managed and no longer contain. */
  readonly orphans: 'keep' | 'release' | 'delete';
  /** Ids of the policies that may be deleted; undefined if all may. */
  readonly deletable?: readonly string[] | undefined;
  readonly dryRun: boolean;
  readonly reason?: string | undefined;
}

/** The input of a comparison of policies in files with those in force, which also replays recorded decisions. */
export interface CliComparedPolicies {
  /** Email of the admin whom audit entries name. */
  readonly as: string;
  readonly policies: readonly CliPolicyOfFile[];
  /** True if the policies that files managed and no longer contain count as deleted. */
  readonly prune: boolean;
  readonly filter: Readonly<Record<string, string>>;
  readonly maxEntries: number;
}

/** A rollback of a policy. */
export interface CliRollback {
  /** Email of the admin. */
  readonly as: string;
  /** Name or id of the policy. */
  readonly policy: string;
  readonly revision: number;
  readonly reason: string;
  /** True to restore the assignments as well. */
  readonly assignments: boolean;
  readonly dryRun: boolean;
}

/** A removal of an assignment. */
export interface CliUnassignment {
  /** Email of the admin. */
  readonly as: string;
  /** Name or id of the policy. */
  readonly policy: string;
  readonly to: { readonly email: string } | { readonly role: CliRole };
  readonly reason?: string | undefined;
}

/** A role that policies can be assigned to. */
export type CliRole = (typeof ASSIGNABLE_ROLES)[number];

/** An assignment of a policy to a user or role. */
export interface CliAssignment extends CliUnassignment {
  /** A timestamp, or null for no expiry. If absent, an assignment in force keeps its expiry. */
  readonly expiresAt?: string | null | undefined;
}

/** An import or export of a resource. */
export interface CliTransfer {
  readonly resource: string;
  /** Email of the user whose policies decide. */
  readonly as: string;
  /** The query parameters of the corresponding HTTP request. */
  readonly query: ReadonlyMap<string, string>;
  /** Called with the number of rows processed since the last call. */
  onProgress(rows: number): void;
}

/** A file of records to import. */
export interface CliImportFile extends CliTransfer {
  readonly mediaType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The selection and order of the records to export. */
export interface CliExportBody {
  readonly [name: string]: string | readonly string[];
}
