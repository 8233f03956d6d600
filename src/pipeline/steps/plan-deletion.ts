/**
 * The plan of a deletion: finds the records that reference the deleted ones, and decides on each record that the deletion cascades to,
 * before any record is changed. The deletion and its dry run have the same plan.
 */
import { Problem } from '../../errors.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import {
  findReferencesToClear,
  findReferencingAdmin,
  findReferencingIds,
  loadRecords,
  type RecordId,
  type ReferencesToClear,
  type ReferencingField,
  referencingFieldsTo,
} from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { createUsageCounter } from '../usage-counter.ts';
import { authorizeEach } from './decide-request.ts';

/** Ids of records to delete, by resource. */
type Deletions = Map<Resource, Set<string>>;

/** The effects of a deletion. */
export interface DeletionPlan {
  /** Ids of the records to delete, by resource. */
  readonly deletions: ReadonlyMap<Resource, ReadonlySet<string>>;
  readonly toClear: readonly ReferencesToClear[];
}

/** A reason against a deletion. */
export interface DeletionRefusal {
  readonly reference: ReferencingField;
  readonly problem: Problem;
  /** The referencing record that the caller may not delete or change; undefined if records refer to one that would be deleted. */
  readonly denied?: StoredRecord;
  /** True if the referencing records are soft-deleted. */
  readonly isSoftDeleted?: boolean;
}

/** Receives what the search for a plan finds, in the order in which it is found. */
export interface DeletionObserver {
  /** Throws the problem, or notes it, and the search continues. */
  refuse(refusal: DeletionRefusal): Promise<void>;
  /** Receives records that a reference cascades to, once each, after they were decided. */
  cascade(reference: ReferencingField, records: readonly StoredRecord[]): Promise<void>;
}

/** Maximum number of references in a chain that a deletion follows. Each level needs a query per reference; for lists of references, the query scans a table. */
export const MAX_DEPTH = 32;
/** Maximum number of referencing records loaded at once. */
const PAGE = 100;

const countDeleted = createUsageCounter();

/**
 * Finds the records that a deletion deletes or changes, level by level. All records are found and decided before any is changed, so the
 * result does not depend on the order of the definitions.
 *
 * @throws Problem REQUEST_BUDGET, and RECORD_REFERENCED above the limits of a cascade
 */
export async function planDeletion(context: RequestContext, { resource, id }: RecordId, observer: DeletionObserver): Promise<DeletionPlan> {
  const deletions: Deletions = new Map();
  let newest: Deletions = new Map([[resource, new Set([id])]]);
  for (let depth = 0; newest.size > 0; depth++) {
    for (const [each, ids] of newest) deletions.set(each, new Set([...idsOf(deletions, each), ...ids]));
    newest = await findNext(context, { newest, deletions, depth, observer });
  }
  return { deletions, toClear: await findToClear(context, deletions) };
}

interface Search {
  /** The records found at the previous level. The search looks for the records that reference them. */
  readonly newest: Deletions;
  /** All records found so far. */
  readonly deletions: Deletions;
  /** Number of references between the record of the request and `newest`. */
  readonly depth: number;
  readonly observer: DeletionObserver;
}

/** Returns the records that are deleted because they reference `newest`. First checks the references that may refuse the deletion. */
async function findNext(context: RequestContext, search: Search): Promise<Deletions> {
  const { definitions } = context.snapshot;
  const references = [...search.newest].flatMap(([resource, ids]) => referencingFieldsTo(definitions, { resource, ids: [...ids] }));
  for (const reference of references) {
    if (reference.onDelete === 'setNull') await decideAdminUpdate(context, reference, search);
    else await validateUnreferenced(context, reference, search);
  }
  const next: Deletions = new Map();
  for (const reference of references) if (reference.onDelete === 'cascade') await addReferencing(context, reference, { ...search, next });
  return next;
}

async function validateUnreferenced(context: RequestContext, reference: ReferencingField, { depth, observer }: Search): Promise<void> {
  const target = targetOf(reference, depth);
  if (reference.onDelete === 'restrict' && (await isReferenced(context, reference, 'notDeleted'))) {
    const detail = `${nameOf(reference)} refers to ${target}; delete or change the referencing records first`;
    await observer.refuse({ reference, problem: toReferencedProblem(detail) });
  }
  if (!reference.to.resource.softDelete && (await isReferenced(context, reference, 'deleted'))) {
    const detail = `${nameOf(reference)} of a soft-deleted record refers to ${target}; restore and change the referencing records first, or delete them permanently`;
    await observer.refuse({ reference, problem: toReferencedProblem(detail), isSoftDeleted: true });
  }
}

/** If a reference in the user record of an admin would be emptied, authorizes `update` on that record, because only admins may change it. */
async function decideAdminUpdate(context: RequestContext, reference: ReferencingField, { depth, observer }: Search): Promise<void> {
  const { resource } = reference;
  if (resource.name !== 'User' || context.principal.role === 'admin') return;
  const id = await findReferencingAdmin(context.tx, reference);
  if (id === undefined) return;
  const records = [...(await loadRecords(context.tx, resource, [id])).values()];
  const hint = `${nameOf(reference)} of an admin refers to ${targetOf(reference, depth)} and would be emptied; ask an admin to delete it`;
  await authorizeEach(context, { resource, action: 'update', records, hint, refuse: refuseWith(observer, reference) });
}

/** Returns the function that reports a denied record to the observer. */
function refuseWith(observer: DeletionObserver, reference: ReferencingField) {
  return (problem: Problem, denied: StoredRecord): Promise<void> => observer.refuse({ reference, problem, denied });
}

async function isReferenced({ tx }: RequestContext, reference: ReferencingField, existence: 'notDeleted' | 'deleted'): Promise<boolean> {
  return (await findReferencingIds(tx, reference, { after: '', limit: 1, existence })).length > 0;
}

async function addReferencing(
  context: RequestContext,
  reference: ReferencingField,
  { deletions, next, depth, observer }: Search & { readonly next: Deletions },
): Promise<void> {
  const { resource } = reference;
  const found = idsOf(next, resource);
  const known = idsOf(deletions, resource);
  for (let after = ''; ; ) {
    const page = await findReferencingIds(context.tx, reference, { after, limit: PAGE, lock: 'update' });
    const ids = page.filter((id) => !known.has(id) && !found.has(id));
    if (ids.length > 0) {
      validateBounds(context, reference, { ids, depth });
      await authorizeCascade(context, reference, { ids, depth, observer });
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

async function authorizeCascade(
  context: RequestContext,
  reference: ReferencingField,
  { ids, depth, observer }: NewReferencing & Pick<Search, 'observer'>,
): Promise<void> {
  const { resource } = reference;
  const stored = await loadRecords(context.tx, resource, ids);
  const records = ids.flatMap((id) => stored.get(id) ?? []);
  const hint = `${nameOf(reference)} refers to ${targetOf(reference, depth)}; the referencing records would be deleted with it`;
  await authorizeEach(context, { resource, action: 'delete', records, hint, refuse: refuseWith(observer, reference) });
  await observer.cascade(reference, records);
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
