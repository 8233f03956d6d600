import { createPolicyStore, type Snapshot } from '../authz/index.ts';
import { type PolicyImport, type PolicyLimits, toUserAssignmentChange } from '../authz/policies/index.ts';
import type { Definitions } from '../resources/index.ts';
import { importPolicies, migrate, openSqlite, type Transaction } from '../storage/index.ts';

/** The policies of a project, and the configuration that decides with them. */
export interface PolicyProject {
  readonly definitions: Definitions;
  readonly policies: readonly PolicyImport[];
  readonly limits: PolicyLimits;
  /** IANA name of the time zone of conditions. */
  readonly timeZone: string;
}

/** The content of a database in memory. */
export interface DatabaseContent {
  /** Stores records. */
  readonly fill?: (tx: Transaction) => Promise<void>;
  /** The ids of the users to whom a policy is assigned, by the name of the policy. */
  readonly usersOf?: (policy: string) => readonly string[];
}

/** The author of the policies. */
const AUTHOR = 'policies test';
const MAX_ASSIGNMENTS = 10_000;
/** No request waits for these transactions. */
const UNLIMITED = { unlimited: true };

/** Calls `use` with a transaction on a database in memory that contains the policies of a project. */
export async function withPolicyDatabase<T>(
  { definitions, policies, limits }: PolicyProject,
  { fill = async () => undefined, usersOf = () => [] }: DatabaseContent,
  use: (unit: { readonly tx: Transaction; readonly snapshot: Snapshot }) => Promise<T>,
): Promise<T> {
  const database = openSqlite({ path: ':memory:' });
  try {
    const store = createPolicyStore(definitions, { ...limits, maxAssignments: MAX_ASSIGNMENTS });
    await migrate(database, definitions, { holder: store });
    await database.transaction(async (tx) => {
      await fill(tx);
      const imports = policies.map((each) => ({ ...each, users: usersOf(each.policy.name).map(toAssignment) }));
      await importPolicies(tx, imports, { by: AUTHOR });
    }, UNLIMITED);
    return await database.transaction(async (tx) => use({ tx, snapshot: await store.snapshot(tx) }), UNLIMITED);
  } finally {
    await database.close();
  }
}

function toAssignment(userId: string): PolicyImport['users'][number] {
  return { userId, ...toUserAssignmentChange({}) };
}
