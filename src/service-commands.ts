/** Commands of the CLI that need a service, but no HTTP server. */
import {
  type AdminDeps,
  type ApiDeps,
  applyPoliciesFromCommand,
  assignFromCommand,
  type CommandApplication,
  type CommandAssignment,
  type CommandPassword,
  type CommandPolicies,
  type CommandPromotion,
  type CommandRollback,
  type CommandUnassignment,
  type CommandUser,
  type ComparedPolicies,
  comparePolicies,
  createPermissionPolicies,
  createUserFromCommand,
  exportPoliciesFromCommand,
  importPoliciesFromCommand,
  type PermissionPolicy,
  type PolicyApplicationReport,
  type PolicyComparison,
  promoteUserFromCommand,
  type RestoredAccess,
  type RollbackReport,
  restoreAdminPolicy,
  rollBackFromCommand,
  setPasswordFromCommand,
  unassignFromCommand,
} from './api/index.ts';
import { type CommandExport, type CommandImport, exportFromCommand, importFromCommand } from './transfer/index.ts';

/** The commands that need a service, but no HTTP server. */
export interface ServiceCommands {
  /** Returns the policies that correspond to the legacy permissions maps; with `apply`, creates those that are missing. */
  policiesFromPermissions(options: { readonly apply: boolean }): Promise<readonly PermissionPolicy[]>;
  /** Imports policies as an admin. Returns lines for the operator. */
  importPolicies(file: CommandPolicies): Promise<readonly string[]>;
  /** Applies the policies of files as an admin: all or none. */
  applyPolicies(application: CommandApplication): Promise<PolicyApplicationReport>;
  /** Assigns a policy to a user or role as an admin. Returns a message for the operator. */
  assignPolicy(assignment: CommandAssignment): Promise<string>;
  /** Removes an assignment as an admin. Returns a message for the operator. */
  unassignPolicy(assignment: CommandUnassignment): Promise<string>;
  /** Restores a past version of a policy as an admin, unless a file manages the policy. */
  rollBackPolicy(rollback: CommandRollback): Promise<RollbackReport>;
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

/** The dependencies of the commands. */
export interface ServiceCommandDeps {
  readonly deps: ApiDeps;
  readonly admin: AdminDeps;
}

/** Creates the commands. Every command first calls `prepare`, which refuses if a migration of the tables of the project is pending. */
export function createServiceCommands({ deps, admin }: ServiceCommandDeps, prepare: () => Promise<void>): ServiceCommands {
  const { database, policyStore } = deps;
  const prepared =
    <Needed, Given, Result>(needed: Needed, command: (needed: Needed, given: Given) => Promise<Result> | Result) =>
    async (given: Given): Promise<Result> => {
      await prepare();
      return command(needed, given);
    };
  return {
    async policiesFromPermissions(options) {
      await prepare();
      return database.transaction((tx) => createPermissionPolicies(tx, policyStore.definitions, options));
    },
    importPolicies: prepared(admin, importPoliciesFromCommand),
    applyPolicies: prepared(admin, applyPoliciesFromCommand),
    assignPolicy: prepared(admin, assignFromCommand),
    unassignPolicy: prepared(admin, unassignFromCommand),
    rollBackPolicy: prepared(admin, rollBackFromCommand),
    comparePolicies: prepared(admin, comparePolicies),
    exportPolicies: prepared(admin, exportPoliciesFromCommand),
    async restoreAdminPolicy() {
      await prepare();
      return restoreAdminPolicy(admin);
    },
    setPassword: prepared(admin, setPasswordFromCommand),
    createUser: prepared(admin, createUserFromCommand),
    promoteUser: prepared(admin, promoteUserFromCommand),
    importFile: prepared(deps, importFromCommand),
    exportFile: prepared(deps, exportFromCommand),
  };
}
