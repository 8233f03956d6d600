/** Decides the lists of policy tests: each is run with the steps of a request, on the database in memory. */
import { type SimulationContext, toPrincipal } from '../api/index.ts';
import { ANON, type Principal } from '../authz/context/index.ts';
import { simulateList } from '../pipeline/index.ts';
import { loadRecord, type Transaction, withTime } from '../storage/index.ts';
import type { ListMismatch, PolicyTestCase } from './policy-test.ts';
import { toTestId } from './test-ids.ts';
import { toTestOrigin } from './test-origin.ts';

/** The database and the policies of a test file. */
export type TestContext = Omit<SimulationContext, 'origin'>;

/** The records that a list shows. */
export interface DecidedList {
  readonly isDenied: boolean;
  /** Names of the records. */
  readonly shown: readonly string[];
  /** Undefined if the list shows exactly the expected records. */
  readonly mismatch: ListMismatch | undefined;
}

/** Runs a list as a request of the user, and compares its records with the expected ones. `names` are the names of all records by id. */
export async function decideList(
  { tx, snapshot, deps }: TestContext,
  each: PolicyTestCase,
  names: ReadonlyMap<string, string>,
): Promise<DecidedList> {
  const { resource, user, now, shows = [] } = each;
  const at = now === undefined ? tx : withTime(tx, now);
  const principal = user === undefined ? ANON : await loadActivePrincipal(at, snapshot.definitions, user);
  const list = { tx: at, snapshot, origin: toTestOrigin(each), timeZone: deps.timeZone, resource: resource.name, records: names.size };
  const ids = principal === undefined ? undefined : await simulateList({ ...list, principal });
  const shown = (ids ?? []).map((id) => names.get(id) ?? id);
  const missing = shows.filter((name) => !shown.includes(name));
  const unexpected = shown.filter((name) => !shows.includes(name));
  return { isDenied: ids === undefined, shown, mismatch: missing.length + unexpected.length > 0 ? { missing, unexpected } : undefined };
}

/** Loads the principal of a user; undefined if the user is not active, because the service refuses the token then. */
async function loadActivePrincipal(
  tx: Transaction,
  definitions: SimulationContext['snapshot']['definitions'],
  user: string,
): Promise<Principal | undefined> {
  const definition = definitions.get('User');
  const stored = definition && (await loadRecord(tx, definition, toTestId('User', user)));
  return stored?.['isActive'] === true ? toPrincipal(stored) : undefined;
}
