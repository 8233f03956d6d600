import { revokeSessions, validateAdminRemains } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';
import type { Resource } from '../../resources/index.ts';
import {
  clearReferences,
  deleteRecord,
  findReferencingAdmin,
  findReferencingIds,
  loadRecords,
  type RecordId,
  type ReferencingField,
  referencingFieldsTo,
  removeAssignmentsOf,
  type Transaction,
} from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { decideOrRefuseEach } from './decide-request.ts';

/** Ids of records that go, by resource. */
type Going = Map<Resource, Set<string>>;

/** References in a row that a deletion follows: each is a search for what refers, which for lists looks at a whole table. */
export const MAX_DEPTH = 32;
/** Referring records loaded at once. */
const PAGE = 100;

const cascaded = countDecisions();

/**
 * Deletes a record, and does to those that refer to it what their definitions say: `restrict` refuses, `setNull` empties the
 * reference, `cascade` deletes the referring record too, and only where the caller may: each leaves its own entry. All are found
 * and decided on before anything is changed, so that neither depends on the order in which definitions stand. Each is kept or
 * gone for good as its own resource says; one that is kept refers on, so what it refers to cannot be gone.
 */
export async function deleteWithReferrers(context: RequestContext, { resource, id }: RecordId): Promise<void> {
  const going: Going = new Map();
  let newest: Going = new Map([[resource, new Set([id])]]);
  for (let depth = 0; newest.size > 0; depth++) {
    for (const [each, ids] of newest) going.set(each, new Set([...idsOf(going, each), ...ids]));
    newest = await findNext(context, { newest, going, depth });
  }
  for (const [each, ids] of going) await letGo(context, each, ids);
  for (const [each, ids] of going) for (const one of ids) await deleteOne(context, each, one);
}

interface Search {
  /** Those whose referrers are looked for. */
  readonly newest: Going;
  /** These and all found before them. */
  readonly going: Going;
  /** References in a row that led to them. */
  readonly depth: number;
}

/** What goes with the newest of those that go. What refuses to let one of them go is asked first. */
async function findNext(context: RequestContext, search: Search): Promise<Going> {
  const { definitions } = context.snapshot;
  const referrers = [...search.newest].flatMap(([resource, ids]) => referencingFieldsTo(definitions, { resource, ids: [...ids] }));
  for (const referrer of referrers) {
    if (referrer.onDelete === 'setNull') await checkNoAdminChanges(context, referrer, search.depth);
    else await checkUnreferred(context, referrer, search.depth);
  }
  const next: Going = new Map();
  for (const referrer of referrers) if (referrer.onDelete === 'cascade') await addReferring(context, referrer, { ...search, next });
  return next;
}

async function checkUnreferred(context: RequestContext, referrer: ReferencingField, depth: number): Promise<void> {
  const target = targetOf(referrer, depth);
  if (referrer.onDelete === 'restrict' && (await isReferredTo(context, referrer, 'notDeleted')))
    throw referred(`${nameOf(referrer)} refers to ${target}: whatever does so has to be deleted or changed first`);
  if (!referrer.to.resource.softDelete && (await isReferredTo(context, referrer, 'deleted')))
    throw referred(
      `${nameOf(referrer)} of a deleted record refers to ${target}: whatever does so has to be restored and changed, or dropped for good, first`,
    );
}

/** Emptying a reference changes the record that has it. For an admin's record it is decided as an update, which only admins may make. */
async function checkNoAdminChanges(context: RequestContext, referrer: ReferencingField, depth: number): Promise<void> {
  const { resource } = referrer;
  if (resource.name !== 'User' || context.principal.role === 'admin') return;
  const id = await findReferencingAdmin(context.tx, referrer);
  if (id === undefined) return;
  const records = [...(await loadRecords(context.tx, resource, [id])).values()];
  const hint = `${nameOf(referrer)} of an admin refers to ${targetOf(referrer, depth)} and would be emptied; ask an admin to delete it`;
  await decideOrRefuseEach(context, { resource, action: 'update', records, hint });
}

async function isReferredTo({ tx }: RequestContext, referrer: ReferencingField, existence: 'notDeleted' | 'deleted'): Promise<boolean> {
  return (await findReferencingIds(tx, referrer, { after: '', limit: 1, existence })).length > 0;
}

async function addReferring(
  context: RequestContext,
  referrer: ReferencingField,
  { going, next, depth }: Search & { readonly next: Going },
): Promise<void> {
  const { resource } = referrer;
  const found = idsOf(next, resource);
  const known = idsOf(going, resource);
  for (let after = ''; ; ) {
    const ids = await findReferencingIds(context.tx, referrer, { after, limit: PAGE, lock: 'update' });
    const met = ids.filter((id) => !known.has(id) && !found.has(id));
    if (met.length > 0) {
      checkBounds(context, referrer, { ids: met, depth });
      await decideDeletions(context, referrer, { ids: met, depth });
      next.set(resource, found);
      for (const id of met) found.add(id);
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return;
    after = last;
  }
}

/** Referring records that were not met before. */
interface Met {
  readonly ids: readonly string[];
  readonly depth: number;
}

function checkBounds({ tx, options }: RequestContext, referrer: ReferencingField, { ids, depth }: Met): void {
  if (depth >= MAX_DEPTH)
    throw referred(`more than ${MAX_DEPTH} references in a row lead to this record; delete what refers by ${nameOf(referrer)} first`);
  if (cascaded(tx, ids.length) > options.cascadeMax)
    throw referred(
      `more than ${options.cascadeMax} records would have to go with this one; delete some that refer by ${nameOf(referrer)} first`,
    );
}

async function decideDeletions(context: RequestContext, referrer: ReferencingField, { ids, depth }: Met): Promise<void> {
  const { resource } = referrer;
  const stored = await loadRecords(context.tx, resource, ids);
  const records = ids.flatMap((id) => stored.get(id) ?? []);
  const hint = `${nameOf(referrer)} refers to ${targetOf(referrer, depth)}: whatever does so would be deleted with it`;
  await decideOrRefuseEach(context, { resource, action: 'delete', records, hint });
}

/**
 * Empties the references to what goes. By those that cascade, records that go refer to one another: then none is in another's
 * way, in whatever order. A list of references is in nobody's, and what is kept can be referred to.
 */
async function letGo({ tx, snapshot }: RequestContext, resource: Resource, ids: ReadonlySet<string>): Promise<void> {
  for (const referrer of referencingFieldsTo(snapshot.definitions, { resource, ids: [...ids] }))
    if (referrer.onDelete === 'setNull' || (referrer.onDelete === 'cascade' && referrer.field.of === undefined && !resource.softDelete))
      await clearReferences(tx, referrer);
}

async function deleteOne(context: RequestContext, resource: Resource, id: string): Promise<void> {
  // Here, so that no cascade ends a user otherwise than a request for that user would.
  if (resource.name === 'User') {
    await validateAdminRemains(context.tx, { userId: id, deleted: true });
    await revokeSessions(context.tx, id);
    await removeAssignmentsOf(context.tx, id, { by: context.principal.id ?? context.principal.role });
  }
  await deleteRecord(context.tx, resource, { id, by: context.principal.id });
}

function idsOf(going: Going, resource: Resource): Set<string> {
  return going.get(resource) ?? new Set();
}

function referred(detail: string): Problem {
  return new Problem('RECORD_REFERENCED', detail);
}

function targetOf({ to }: ReferencingField, depth: number): string {
  return depth === 0 ? `this ${to.resource.name}` : `one of the ${to.resource.name} records that would go with this`;
}

/** Nobody learns the name of a secret field by deleting what it refers to. */
function nameOf({ resource, field }: ReferencingField): string {
  return field.writeOnly ? resource.name : `${resource.name}.${field.name}`;
}

/**
 * Counts what the requests of a transaction use up together, and answers how much that is by now: a batch asks many
 * times, and everyone else waits for the whole of it.
 */
export function countDecisions(): (tx: Transaction, count: number) => number {
  const used = new WeakMap<Transaction, number>();
  return (tx, count) => {
    const total = (used.get(tx) ?? 0) + count;
    used.set(tx, total);
    return total;
  };
}
