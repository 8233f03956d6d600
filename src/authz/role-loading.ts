import { Problem } from '../errors.ts';
import { getOrCreate } from '../memoize.ts';
import type { Database, Log, Transaction } from '../storage/index.ts';
import type { PolicyStore } from './policy-store.ts';
import type { RoleLoad } from './role-load.ts';

/** The components that load the policies of pending roles. */
export interface RoleLoadingDeps {
  readonly database: Database;
  readonly policyStore: PolicyStore;
  readonly log?: Log | undefined;
}

/** Loads the policies of pending roles, each role once for all requests that wait for it. */
export interface RoleLoading {
  /**
   * Loads the policies of roles, in transactions of its own.
   *
   * @throws Problem STORAGE_BUSY if too many requests wait
   */
  load(roles: readonly string[]): Promise<void>;
  /**
   * Begins to load the policies of all pending roles beside the first requests, so that later requests need not wait for them and a damaged
   * policy makes the service unready. If it fails, the next request that needs the policies loads them.
   */
  start(): void;
  /** Waits for the end of the load. */
  close(): Promise<void>;
}

/** Maximum transactions that load the policies of a role. If policies change during the load, another one applies these changes. */
const MAX_LOADS = 10;
/** Maximum requests that wait for policies. Each of them holds its parsed body. */
const MAX_WAITING = 10_000;
/** Seconds after which a refused request may be sent again: about as long as 100,000 policies take to load. */
const RETRY_AFTER = 5;

/** Creates the load of the policies of pending roles. */
export function createRoleLoading(deps: RoleLoadingDeps): RoleLoading {
  const { policyStore, log } = deps;
  const running = new Map<string, Promise<void>>();
  let last: Promise<unknown> = Promise.resolve();
  let started: Promise<void> | undefined;
  let waiting = 0;

  /** One after the other, so that they need one connection. A request waits at most for the role before its own. */
  function loadRole(role: string): Promise<void> {
    return getOrCreate(running, role, () => {
      const loading = last.then(() => loadPolicies(deps, role)).finally(() => running.delete(role));
      last = loading.catch(() => undefined);
      return loading;
    });
  }

  async function loadAll(): Promise<void> {
    for (const role of policyStore.pendingRoles()) await loadRole(role);
  }

  return {
    async load(roles) {
      if (waiting >= MAX_WAITING)
        throw new Problem('STORAGE_BUSY', `${MAX_WAITING} requests wait for policies already`, { retryAfter: RETRY_AFTER });
      waiting++;
      try {
        await Promise.all(roles.map(loadRole));
      } finally {
        waiting--;
      }
    },
    start() {
      started = loadAll().catch((error: unknown) => {
        log?.(`the policies of roles will be loaded with the requests that need them: ${error instanceof Error ? error.message : error}`);
      });
    },
    close: async () => {
      await started;
      await last;
    },
  };
}

/** Loads the policies of a role. @throws Problem STORAGE_BUSY if policies changed during each load */
async function loadPolicies({ database, policyStore }: RoleLoadingDeps, role: string): Promise<void> {
  let earlier: RoleLoad | undefined;
  const load = async (tx: Transaction): Promise<void> => {
    earlier = await policyStore.loadPendingRole(tx, await policyStore.pendingSnapshot(tx), { role, earlier });
  };
  for (let loads = 0; policyStore.pendingRoles().includes(role); loads++) {
    if (loads === MAX_LOADS)
      throw new Problem('STORAGE_BUSY', 'policies changed each time while they were loaded', { retryAfter: RETRY_AFTER });
    await database.transaction(load, { beginsLong: true });
  }
}
