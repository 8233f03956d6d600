import { revokeSessions, validateAdminRemains } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';
import type { Resource } from '../../resources/index.ts';
import {
  clearReferences,
  deleteRecord,
  deleteViewsOf,
  findReferencesToClear,
  findReferencingAdmin,
  findReferencingIds,
  loadRecords,
  type RecordId,
  type ReferencesToClear,
  type ReferencingField,
  referencingFieldsTo,
  removeAssignmentsOf,
  TimeLimit,
} from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { createUsageCounter } from '../usage-counter.ts';
import { authorizeEach } from './decide-request.ts';

/** Ids of records to delete, by resource. */
type Deletions = Map<Resource, Set<string>>;

/** Maximum number of references in a chain that a deletion follows. Each level needs a query per reference; for lists of references, the query scans a table. */
export const MAX_DEPTH = 32;
/** Maximum number of referencing records loaded at once. */
const PAGE = 100;

const countDeleted = createUsageCounter();

/**
 * Deletes a record and treats the records that reference it by their definitions: `restrict` refuses the deletion, `setNull`
 * empties the reference, and `cascade` deletes the referencing record if the caller may delete it, with its own audit entry.
 *
 * All records are found and decided before any is changed, so the result does not depend on the order of the definitions. The resource of
 * each record determines whether it is soft-deleted or removed. A soft-deleted record still has its references, so the records that
 * it references cannot be removed.
 */
export async function deleteWithReferencing(context: RequestContext, target: RecordId): Promise<void> {
  try {
    await deleteAll(context, target);
  } catch (error) {
    if (!(error instanceof TimeLimit)) throw error;
    const hint = 'delete or change the referencing records first, in several requests';
    throw new Problem('REQUEST_BUDGET', error.detail, { hint, cause: error });
  }
}

async function deleteAll(context: RequestContext, { resource, id }: RecordId): Promise<void> {
  const deletions: Deletions = new Map();
  let newest: Deletions = new Map([[resource, new Set([id])]]);
  for (let depth = 0; newest.size > 0; depth++) {
    for (const [each, ids] of newest) deletions.set(each, new Set([...idsOf(deletions, each), ...ids]));
    newest = await findNext(context, { newest, deletions, depth });
  }
  // All searches come before the first write, which ends a long attempt.
  const toClear = await findToClear(context, deletions);
  for (const each of toClear) await clearReferences(context.tx, each);
  for (const [each, ids] of deletions) for (const deletedId of ids) await deleteOne(context, each, deletedId);
}

interface Search {
  /** The records found at the previous level. The search looks for the records that reference them. */
  readonly newest: Deletions;
  /** All records found so far. */
  readonly deletions: Deletions;
  /** Number of references between the record of the request and `newest`. */
  readonly depth: number;
}

/** Returns the records that are deleted because they reference `newest`. First checks the references that may refuse the deletion. */
async function findNext(context: RequestContext, search: Search): Promise<Deletions> {
  const { definitions } = context.snapshot;
  const references = [...search.newest].flatMap(([resource, ids]) => referencingFieldsTo(definitions, { resource, ids: [...ids] }));
  for (const reference of references) {
    if (reference.onDelete === 'setNull') await decideAdminUpdate(context, reference, search.depth);
    else await validateUnreferenced(context, reference, search.depth);
  }
  const next: Deletions = new Map();
  for (const reference of references) if (reference.onDelete === 'cascade') await addReferencing(context, reference, { ...search, next });
  return next;
}

async function validateUnreferenced(context: RequestContext, reference: ReferencingField, depth: number): Promise<void> {
  const target = targetOf(reference, depth);
  if (reference.onDelete === 'restrict' && (await isReferenced(context, reference, 'notDeleted')))
    throw toReferencedProblem(`${nameOf(reference)} refers to ${target}; delete or change the referencing records first`);
  if (!reference.to.resource.softDelete && (await isReferenced(context, reference, 'deleted')))
    throw toReferencedProblem(
      `${nameOf(reference)} of a soft-deleted record refers to ${target}; restore and change the referencing records first, or delete them permanently`,
    );
}

/** If a reference in the user record of an admin would be emptied, authorizes `update` on that record, because only admins may change it. */
async function decideAdminUpdate(context: RequestContext, reference: ReferencingField, depth: number): Promise<void> {
  const { resource } = reference;
  if (resource.name !== 'User' || context.principal.role === 'admin') return;
  const id = await findReferencingAdmin(context.tx, reference);
  if (id === undefined) return;
  const records = [...(await loadRecords(context.tx, resource, [id])).values()];
  const hint = `${nameOf(reference)} of an admin refers to ${targetOf(reference, depth)} and would be emptied; ask an admin to delete it`;
  await authorizeEach(context, { resource, action: 'update', records, hint });
}

async function isReferenced({ tx }: RequestContext, reference: ReferencingField, existence: 'notDeleted' | 'deleted'): Promise<boolean> {
  return (await findReferencingIds(tx, reference, { after: '', limit: 1, existence })).length > 0;
}

async function addReferencing(
  context: RequestContext,
  reference: ReferencingField,
  { deletions, next, depth }: Search & { readonly next: Deletions },
): Promise<void> {
  const { resource } = reference;
  const found = idsOf(next, resource);
  const known = idsOf(deletions, resource);
  for (let after = ''; ; ) {
    const page = await findReferencingIds(context.tx, reference, { after, limit: PAGE, lock: 'update' });
    const ids = page.filter((id) => !known.has(id) && !found.has(id));
    if (ids.length > 0) {
      validateBounds(context, reference, { ids, depth });
      await authorizeCascade(context, reference, { ids, depth });
      next.set(resource, found);
      for (const id of ids) found.add(id);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    await context.tx.checkTime();
    after = last;
  }
}

/** Referencing records of one resource that were not found before. */
interface NewReferencing {
  readonly ids: readonly string[];
  readonly depth: number;
}

function validateBounds({ tx, options }: RequestContext, reference: ReferencingField, { ids, depth }: NewReferencing): void {
  if (depth >= MAX_DEPTH)
    throw toReferencedProblem(
      `a chain of more than ${MAX_DEPTH} references leads to this record; delete records that refer to others by ${nameOf(reference)} first`,
    );
  if (countDeleted(tx, ids.length) > options.cascadeMax)
    throw toReferencedProblem(
      `more than ${options.cascadeMax} records would be deleted with this one; delete records that refer to others by ${nameOf(reference)} first`,
    );
}

async function authorizeCascade(context: RequestContext, reference: ReferencingField, { ids, depth }: NewReferencing): Promise<void> {
  const { resource } = reference;
  const stored = await loadRecords(context.tx, resource, ids);
  const records = ids.flatMap((id) => stored.get(id) ?? []);
  const hint = `${nameOf(reference)} refers to ${targetOf(reference, depth)}; the referencing records would be deleted with it`;
  await authorizeEach(context, { resource, action: 'delete', records, hint });
}

/**
 * Finds the references to clear in the records that refer to the deleted ones. References that cascade are cleared too, because deleted records may
 * reference one another and foreign keys would refuse every order. Lists have no foreign keys, and soft-deleted records can be referenced.
 */
async function findToClear({ tx, snapshot }: RequestContext, deletions: Deletions): Promise<readonly ReferencesToClear[]> {
  const found: ReferencesToClear[] = [];
  for (const [resource, ids] of deletions) {
    for (const reference of referencingFieldsTo(snapshot.definitions, { resource, ids: [...ids] })) {
      const isCleared = reference.onDelete === 'cascade' && reference.field.of === undefined && !resource.softDelete;
      if (reference.onDelete === 'setNull' || isCleared) found.push(await findReferencesToClear(tx, reference));
    }
  }
  return found;
}

async function deleteOne(context: RequestContext, resource: Resource, id: string): Promise<void> {
  await context.tx.checkTime();
  // Applies to users deleted by a cascade as well as to users deleted by a request.
  if (resource.name === 'User') {
    await validateAdminRemains(context.tx, { userId: id, deleted: true });
    await revokeSessions(context.tx, id);
    await deleteViewsOf(context.tx, id);
    await removeAssignmentsOf(context.tx, id, { by: context.principal.id ?? context.principal.role });
  }
  await deleteRecord(context.tx, resource, { id, by: context.principal.id });
}

function idsOf(deletions: Deletions, resource: Resource): Set<string> {
  return deletions.get(resource) ?? new Set();
}

function toReferencedProblem(detail: string): Problem {
  return new Problem('RECORD_REFERENCED', detail);
}

function targetOf({ to }: ReferencingField, depth: number): string {
  return depth === 0 ? `this ${to.resource.name}` : `one of the ${to.resource.name} records that would be deleted with this one`;
}

/** Returns the name of the reference. The name of a write-only field is left out, because callers must not learn it. */
function nameOf({ resource, field }: ReferencingField): string {
  return field.writeOnly ? resource.name : `${resource.name}.${field.name}`;
}
