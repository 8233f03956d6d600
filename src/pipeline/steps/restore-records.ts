import { type Issue, Problem } from '../../errors.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import {
  findDanglingReferences,
  findDeletedTogether,
  type ReferencingField,
  referencingFieldsTo,
  restoreRecord,
} from '../../storage/index.ts';
import type { Decided, RequestContext, Result } from '../request-context.ts';
import { countDecisions, MAX_DEPTH } from './cascade-delete.ts';
import { MOST_ISSUES } from './check-record.ts';
import { decideOrRefuseEach } from './decide-request.ts';
import { translated } from './write-record.ts';

/** Records loaded at once. */
const PAGE = 100;

const restored = countDecisions();

/**
 * Brings the deleted record found back, and those that were deleted with it because they refer to it by `cascade`: each where
 * the caller may, each with its own entry, all or none. That they went with it is told by when and by whom they were deleted:
 * what the same user deleted by itself in the same millisecond, as a batch may, comes back too. Accepted: it may be deleted again.
 *
 * Found level by level, as they went, and decided on as they were found, once what they refer to is back: so that neither
 * depends on the order in which definitions or records stand.
 */
export async function restoreRecords(context: RequestContext, { found }: Decided): Promise<Result> {
  const { resource } = context;
  const record = found[0] as StoredRecord;
  const others = await findOthers(context, record);
  const all = [{ resource, records: [record] }, ...others];
  const clash = await bringBack(context, all);
  for (const each of others) {
    const hint = `${each.resource.name} records that went with this ${resource.name} would come back with it`;
    await decideOrRefuseEach(context, { ...each, action: 'delete', hint });
  }
  // Who may not have them back does not learn what is in their way.
  if (clash !== undefined) throw clash;
  await checkWhole(context, all);
  return { status: 200, data: { id: record.id }, extras: { message: `restored ${resource.name} ${record.id}` } };
}

/** Deleted records of one resource. */
interface Deleted {
  readonly resource: Resource;
  readonly records: readonly StoredRecord[];
}

/** What went with the record, in the order in which it was found. */
async function findOthers(context: RequestContext, record: StoredRecord): Promise<readonly Deleted[]> {
  const search: Search = { record, known: new Map([[context.resource, new Set([record.id])]]) };
  const found: Deleted[] = [];
  let newest: readonly Deleted[] = [{ resource: context.resource, records: [record] }];
  for (let depth = 0; newest.length > 0; depth++) {
    const next: Deleted[] = [];
    for (const referrer of newest.flatMap((each) => cascadesTo(context, each))) {
      for await (const records of findNext(context, referrer, search)) {
        checkBounds(context, { count: records.length, depth });
        next.push({ resource: referrer.resource, records });
      }
    }
    found.push(...next);
    newest = next;
  }
  return found;
}

function cascadesTo({ snapshot }: RequestContext, { resource, records }: Deleted): readonly ReferencingField[] {
  const ids = records.map(({ id }) => id);
  return referencingFieldsTo(snapshot.definitions, { resource, ids }).filter(
    (each) => each.onDelete === 'cascade' && each.resource.softDelete,
  );
}

interface Search {
  /** What others went with. */
  readonly record: StoredRecord;
  /** Ids of those found so far. */
  readonly known: Map<Resource, Set<string>>;
}

/** Page by page, those that were not found before. */
async function* findNext(
  { tx }: RequestContext,
  referrer: ReferencingField,
  { record, known }: Search,
): AsyncGenerator<readonly StoredRecord[]> {
  const ids = known.get(referrer.resource) ?? new Set();
  known.set(referrer.resource, ids);
  for (let after = ''; ; ) {
    const page = await findDeletedTogether(tx, referrer, { after, limit: PAGE, record });
    const met = page.filter(({ id }) => !ids.has(id));
    for (const { id } of met) ids.add(id);
    if (met.length > 0) yield met;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
}

function checkBounds({ tx, options }: RequestContext, { count, depth }: { readonly count: number; readonly depth: number }): void {
  const { cascadeMax } = options;
  if (depth >= MAX_DEPTH) throw new Problem('RECORD_REFERENCED', `more than ${MAX_DEPTH} references in a row lead to this record`);
  if (restored(tx, count) > cascadeMax)
    throw new Problem('RECORD_REFERENCED', `more than ${cascadeMax} records would have to come back with this one`);
}

/** Gives what stands in the way of the first that cannot come back; the others do all the same, to be decided on. */
async function bringBack({ tx }: RequestContext, all: readonly Deleted[]): Promise<Problem | undefined> {
  let clash: Problem | undefined;
  for (const { resource, records } of all) {
    for (const { id } of records) {
      try {
        // A statement that fails must not be the end of the transaction, whatever the database.
        await tx.savepoint(() => translated({ resource }, () => restoreRecord(tx, resource, id)));
      } catch (error) {
        if (!(error instanceof Problem && error.code === 'RECORD_EXISTS')) throw error;
        clash ??= error;
      }
    }
  }
  return clash;
}

/** UnitOfWork once all of them are back: in a circle the first, too, refers to one that comes back after it. */
async function checkWhole({ tx, snapshot }: RequestContext, all: readonly Deleted[]): Promise<void> {
  const errors: Issue[] = [];
  for (const { resource, records } of all) {
    for (const { id } of records) {
      const dangling = await findDanglingReferences(tx, { resource, definitions: snapshot.definitions }, id);
      errors.push(...dangling.map((field) => toIssue(resource, field)));
    }
  }
  if (errors.length > 0)
    throw new Problem('VALUE_INVALID', 'what it refers to, or what would come back with it does, is gone or deleted', {
      errors: errors.slice(0, MOST_ISSUES),
      hint: 'restore first what is deleted of that',
    });
}

/** Nobody learns the name of a secret field by restoring what refers by it, nor any value. */
function toIssue({ name }: Resource, field: { readonly name: string; readonly writeOnly: boolean }): Issue {
  const path = field.writeOnly ? '' : field.name;
  return { path, code: 'reference', detail: `${path === '' ? name : `${name}.${path}`} refers to what is gone or deleted` };
}
