/** The steps before a service listens or a command runs: the migration of the tables, and the notices about it. */
import { type ApiDeps, createPermissionPolicies } from './api/index.ts';
import type { AuditMaintenance } from './audit/maintenance.ts';
import { once } from './once.ts';
import { migrateTables } from './project/index.ts';
import type { Definitions } from './resources/index.ts';
import type { Database, Log } from './storage/index.ts';

/** The steps that prepare a service. Each works once. */
export interface Preparation {
  /** Migrates the tables; `refuse` throws if a resource of the project has to be migrated. */
  migrate(pending: 'perform' | 'refuse'): Promise<void>;
  /** Migrates the tables, and adds notices about policies that are missing. */
  prepare(): Promise<void>;
}

interface PreparationDeps extends Pick<ApiDeps, 'database' | 'policyStore'> {
  readonly opened: Database;
  readonly auditMaintenance: Pick<AuditMaintenance, 'prepare'>;
  readonly log: Log | undefined;
  /** Receives lines for the operator. */
  readonly notices: string[];
}

/** Creates the preparation of one service. */
export function createPreparation(definitions: Definitions, deps: PreparationDeps): Preparation {
  const { opened, policyStore, auditMaintenance, log, notices } = deps;
  const migrate = once(async (pending: 'perform' | 'refuse') => {
    notices.push(...(await migrateTables(definitions, { database: opened, policyStore }, { actor: 'start', log, pending })));
    await auditMaintenance.prepare();
  });
  const prepare = once(async () => {
    await migrate('perform');
    notices.push(...(await describeUnenforcedPermissions(deps)));
  });
  return { migrate, prepare };
}

async function describeUnenforcedPermissions({
  database,
  policyStore,
}: Pick<ApiDeps, 'database' | 'policyStore'>): Promise<readonly string[]> {
  const policies = await database.transaction((tx) => createPermissionPolicies(tx, policyStore.definitions, { apply: false }));
  const missing = policies.filter(({ state }) => state === 'missing').length;
  if (missing === 0) return [];
  return [
    `the permissions maps of the definitions are not enforced; to create the ${missing} corresponding policies, run: bailiwick policies from-permissions --apply`,
  ];
}
