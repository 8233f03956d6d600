/** What the command line asks of a service, without listening. */
import {
  type AdminParts,
  type ApiDeps,
  createPermissionPolicies,
  createUserFromShell,
  exportPoliciesFromShell,
  importPoliciesFromShell,
  type PermissionPolicy,
  promoteUserFromShell,
  type RestoredAccess,
  restoreAdminPolicy,
  type ShellPassword,
  type ShellPolicies,
  type ShellPromotion,
  type ShellUser,
  setPasswordFromShell,
} from './api/index.ts';
import { type CommandExport, type CommandImport, exportFromCommand, importFromCommand } from './transfer/index.ts';

/** What is done without listening. */
export interface Operations {
  /** The policies that mean the same as the legacy permissions maps; makes those that are missing where asked. */
  policiesFromPermissions(options: { readonly apply: boolean }): Promise<readonly PermissionPolicy[]>;
  /** Imports policies as an admin; gives a sentence on what became of them. */
  importPolicies(file: ShellPolicies): Promise<string>;
  /** Every policy as a file, piece by piece. */
  exportPolicies(format: 'json' | 'ndjson'): Promise<AsyncIterable<string>>;
  /** Restores the policy that lets admins in. */
  restoreAdminPolicy(): Promise<RestoredAccess>;
  /** Sets a user's password and ends every session of theirs; returns a sentence. */
  setPassword(given: ShellPassword): Promise<string>;
  /** Creates a user; returns a sentence. */
  createUser(given: ShellUser): Promise<string>;
  /** Gives a user a role and activates them; returns a sentence. */
  promoteUser(given: ShellPromotion): Promise<string>;
  /** Imports a file as a user; gives a line of JSON for each row that is rejected, and a last one for what became of all. */
  importFile(file: CommandImport): Promise<AsyncIterable<string>>;
  /** Exports as a user; gives the file piece by piece. */
  exportFile(file: CommandExport): Promise<AsyncIterable<string>>;
}

/** What commands are made of. */
export interface OperationDeps {
  readonly parts: ApiDeps;
  readonly admin: AdminParts;
}

/** Makes them. Before anything is done, tables follow the definitions. */
export function createOperations({ parts, admin }: OperationDeps, prepare: () => Promise<void>): Operations {
  const { database, policyStore } = parts;
  return {
    async policiesFromPermissions(options) {
      await prepare();
      return database.transaction((tx) => createPermissionPolicies(tx, policyStore.definitions, options));
    },
    async importPolicies(file) {
      await prepare();
      return importPoliciesFromShell(admin, file);
    },
    async exportPolicies(format) {
      await prepare();
      return exportPoliciesFromShell(admin, format);
    },
    async restoreAdminPolicy() {
      await prepare();
      return restoreAdminPolicy(admin);
    },
    async setPassword(given) {
      await prepare();
      return setPasswordFromShell(admin, given);
    },
    async createUser(given) {
      await prepare();
      return createUserFromShell(admin, given);
    },
    async promoteUser(given) {
      await prepare();
      return promoteUserFromShell(admin, given);
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
