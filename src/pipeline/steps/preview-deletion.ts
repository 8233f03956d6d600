import { hash } from 'node:crypto';
import { Problem, type ProblemCode } from '../../errors.ts';
import { type ProblemBody, toProblemBody } from '../../request/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { findReferencingIds, loadRecords, type RecordId, type ReferencingField, referencingFieldsTo } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import { rollBackUnless } from '../roll-back.ts';
import { explainTimeLimit, performDeletion } from './cascade-delete.ts';
import { readableAmong } from './decide-request.ts';
import { type DeletionPlan, type DeletionRefusal, planDeletion } from './plan-deletion.ts';
import { translateConstraints } from './translate-constraints.ts';

/** Records of one resource that refer to deleted records by one field. Contains only records that the caller may read. */
interface ReferencingRecords {
  readonly resource: string;
  readonly field: string;
  readonly count: number;
  /** The ids of some of the records. */
  readonly ids: readonly string[];
}

/** Records that would be deleted. */
interface CascadedRecords extends ReferencingRecords {
  readonly permanent: boolean;
}

/** Records that make the deletion fail: they refer to deleted records with `restrict`, or the caller may not delete or change them. */
interface RefusingRecords extends ReferencingRecords, Refusal {}

interface Refusal {
  readonly code: ProblemCode;
  /** The reason of the denial. */
  readonly reason?: string;
}

/** The effects of a deletion, as its dry run returns them. */
export interface DeletionPreview {
  readonly id: string;
  readonly dryRun: true;
  /** False if the record is soft-deleted. */
  readonly permanent: boolean;
  readonly deleted: readonly CascadedRecords[];
  readonly cleared: readonly ReferencingRecords[];
  readonly refused: readonly RefusingRecords[];
  /** The problem with which the deletion fails; absent if it succeeds. */
  readonly problem?: ProblemBody;
}

/** Maximum number of ids per field in a preview. */
const MAX_IDS = 10;
/** Maximum number of referencing records loaded at once. */
const PAGE = 100;

/**
 * Returns what the deletion of a record would do. Plans the deletion and performs it in a savepoint that is rolled back, so that every
 * refusal of the deletion is found, also of a foreign key. Each record that the deletion cascades to is decided once, with its audit entry.
 *
 * The search continues after a refusal. `problem` is the first one, with which the deletion fails.
 *
 * @throws Problem REQUEST_BUDGET if the deletion or the search takes too long
 */
export async function previewDeletion(context: RequestContext, target: RecordId): Promise<DeletionPreview> {
  const preview = createPreview(context, target);
  const refusal = await firstRefusal(() =>
    explainTimeLimit(async () => {
      const plan = await planDeletion(context, target, preview);
      await preview.findCleared(plan);
      if (preview.problem !== undefined) return;
      await rollBackUnless(context.tx, async () => {
        await translateConstraints(context, () => performDeletion(context, plan));
        return false;
      });
    }),
  );
  return preview.toResult(preview.problem ?? refusal);
}

/** Runs `work`. Returns the problem by which the state of the records refuses the deletion; undefined if there is none. */
async function firstRefusal(work: () => Promise<void>): Promise<Problem | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem && error.status === 409) return error;
    throw error;
  }
}

/** Collects what the plan of a deletion finds. */
function createPreview(context: RequestContext, target: RecordId) {
  const [deleted, cleared, refused] = [new ReferencingGroups(), new ReferencingGroups(), new ReferencingGroups<Refusal>()];
  const { definitions } = context.snapshot;
  let problem: Problem | undefined;

  return {
    /** The first reason against the deletion; undefined if there is none. */
    get problem() {
      return problem;
    },
    async refuse(refusal: DeletionRefusal): Promise<void> {
      problem ??= refusal.problem;
      const { code, detail } = refusal.problem;
      const found = await findRefusing(context, refusal);
      refused.add(refusal.reference, found, { code, ...(refusal.denied !== undefined && { reason: detail }) });
    },
    async cascade(reference: ReferencingField, records: readonly StoredRecord[]): Promise<void> {
      deleted.add(reference, await idsOfReadable(context, reference, records), {});
    },
    /** Finds the records whose reference would be cleared. Does not count records that would be deleted. */
    async findCleared({ deletions }: DeletionPlan): Promise<void> {
      for (const [resource, ids] of deletions) {
        for (const reference of referencingFieldsTo(definitions, { resource, ids: [...ids] })) {
          if (reference.onDelete !== 'setNull') continue;
          const found = await findReadable(context, reference);
          const isDeleted = deletions.get(reference.resource);
          cleared.add(
            reference,
            found.filter((id) => isDeleted?.has(id) !== true),
            {},
          );
        }
      }
    },
    toResult(failure: Problem | undefined): DeletionPreview {
      const isPermanent = (name: string): boolean => definitions.get(name)?.softDelete !== true;
      return {
        id: target.id,
        dryRun: true,
        permanent: !target.resource.softDelete,
        deleted: deleted.list().map((group) => ({ ...group, permanent: isPermanent(group.resource) })),
        cleared: cleared.list(),
        refused: refused.list(),
        ...(failure !== undefined && { problem: toBody(context, failure) }),
      };
    },
  };
}

/** Ids of referencing records, by resource, field and further members. */
class ReferencingGroups<Members extends object = object> {
  private readonly groups = new Map<
    string,
    { readonly head: Omit<ReferencingRecords, 'count' | 'ids'> & Members; readonly ids: Set<string> }
  >();

  add({ resource, field }: ReferencingField, ids: readonly string[], members: Members): void {
    if (ids.length === 0) return;
    const head = { resource: resource.name, field: field.name, ...members };
    const key = JSON.stringify(head);
    const group = this.groups.get(key) ?? { head, ids: new Set() };
    this.groups.set(key, group);
    for (const id of ids) group.ids.add(id);
  }

  list(): readonly (ReferencingRecords & Members)[] {
    return [...this.groups.values()].map(({ head, ids }) => ({ ...head, count: ids.size, ids: [...ids].slice(0, MAX_IDS) }));
  }
}

async function findRefusing(context: RequestContext, { reference, denied, isSoftDeleted }: DeletionRefusal): Promise<readonly string[]> {
  if (denied !== undefined) return idsOfReadable(context, reference, [denied]);
  return isSoftDeleted ? [] : findReadable(context, reference);
}

/**
 * Finds the referencing records that the caller may read. The attempt that writes uses what the long attempt has found, because it has
 * little time; what it deletes is found again.
 */
async function findReadable(context: RequestContext, reference: ReferencingField): Promise<readonly string[]> {
  const { tx } = context;
  const { resource, field, to } = reference;
  const key = `preview ${resource.name}.${field.name} ${hash('sha256', to.ids.join())}`;
  const retained = tx.attempt === 'writer' ? (tx.retained.get(key) as readonly string[] | undefined) : undefined;
  // A later request of the same batch can ask again after a change.
  tx.retained.delete(key);
  if (retained !== undefined) return retained;
  const found: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: readonly string[] = await findReferencingIds(tx, reference, { after, limit: PAGE });
    const records = await loadRecords(tx, resource, page);
    found.push(...(await idsOfReadable(context, reference, [...records.values()])));
    await tx.checkTime();
    after = page.length < PAGE ? undefined : page.at(-1);
  }
  if (tx.attempt === 'long') tx.retained.set(key, found);
  return found;
}

/** Returns the ids of the records that the caller may read; none if the field is write-only, because its values must stay secret. */
async function idsOfReadable(
  context: RequestContext,
  { resource, field }: ReferencingField,
  records: readonly StoredRecord[],
): Promise<readonly string[]> {
  if (field.writeOnly || records.length === 0) return [];
  return (await readableAmong(context, { resource, records })).map(({ id }) => id);
}

/** Returns the body of the problem as the deletion would answer it, without the id of its audit entry: the dry run has entries of its own. */
function toBody({ origin }: RequestContext, { code, detail, extras }: Problem): ProblemBody {
  const { decisionId: _, ...others } = extras;
  return toProblemBody(new Problem(code, detail, others), origin.requestId);
}
