/** The operations of a service that need no HTTP server. The CLI uses them. */
import {
  type AdminDeps,
  type ApiDeps,
  type CommandPassword,
  type CommandPolicies,
  type CommandPromotion,
  type CommandUser,
  type ComparedPolicies,
  comparePolicies,
  createPermissionPolicies,
  createUserFromCommand,
  exportPoliciesFromCommand,
  importPoliciesFromCommand,
  type PermissionPolicy,
  type PolicyComparison,
  promoteUserFromCommand,
  type RestoredAccess,
  restoreAdminPolicy,
  setPasswordFromCommand,
} from './api/index.ts';
import { type CommandExport, type CommandImport, exportFromCommand, importFromCommand } from './transfer/index.ts';

/** The operations that need no HTTP server. */
export interface Operations {
  /** Returns the policies that correspond to the legacy permissions maps; with `apply`, creates those that are missing. */
  policiesFromPermissions(options: { readonly apply: boolean }): Promise<readonly PermissionPolicy[]>;
  /** Imports policies as an admin. Returns a message for the operator. */
  importPolicies(file: CommandPolicies): Promise<string>;
  /** Compares policies with those in force, and replays recorded decisions under both. Stores nothing. */
  comparePolicies(compared: ComparedPolicies): Promise<PolicyComparison>;
  /** Exports every policy, in chunks of a file. */
  exportPolicies(format: 'json' | 'ndjson'): Promise<AsyncIterable<string>>;
  /** Restores the policy that gives admins full access. */
  restoreAdminPolicy(): Promise<RestoredAccess>;
  /** Sets the password of a user and ends all their sessions. Returns a message for the operator. */
  setPassword(given: CommandPassword): Promise<string>;
  /** Creates a user. Returns a message for the operator. */
  createUser(given: CommandUser): Promise<string>;
  /** Gives a user a role and activates them. Returns a message for the operator. */
  promoteUser(given: CommandPromotion): Promise<string>;
  /** Imports a file as a user. Yields a line of JSON per rejected row, then a summary. */
  importFile(file: CommandImport): Promise<AsyncIterable<string>>;
  /** Exports records as a user, in chunks of a file. */
  exportFile(file: CommandExport): Promise<AsyncIterable<string>>;
}

/** The dependencies of the operations. */
export interface OperationDeps {
  readonly parts: ApiDeps;
  readonly admin: AdminDeps;
}

/** Creates the operations. Every operation first calls `prepare`, which migrates the tables. */
export function createOperations({ parts, admin }: OperationDeps, prepare: () => Promise<void>): Operations {
  const { database, policyStore } = parts;
  return {
    async policiesFromPermissions(options) {
      await prepare();
      return database.transaction((tx) => createPermissionPolicies(tx, policyStore.definitions, options));
    },
    async importPolicies(file) {
      await prepare();
      return importPoliciesFromCommand(admin, file);
    },
    async comparePolicies(compared) {
      await prepare();
      return comparePolicies(admin, compared);
    },
    async exportPolicies(format) {
      await prepare();
      return exportPoliciesFromCommand(admin, format);
    },
    async restoreAdminPolicy() {
      await prepare();
      return restoreAdminPolicy(admin);
    },
    async setPassword(given) {
      await prepare();
      return setPasswordFromCommand(admin, given);
    },
    async createUser(given) {
      await prepare();
      return createUserFromCommand(admin, given);
    },
    async promoteUser(given) {
      await prepare();
      return promoteUserFromCommand(admin, given);
    },
    async importFile(file) {
      await prepare();
      return importFromCommand(parts, file);
    },
    async exportFile(file) {
      await prepare();
      return exportFromCommand(parts, file);
    },
  };
}
