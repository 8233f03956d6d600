import { ACTIONS, type RuleAction } from '../../actions.ts';
import type { Decision } from '../../authz/decision/index.ts';
import { all, type Condition } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { filterKey, resolveSort, resolveWhere, type SortKey } from '../../request/index.ts';
import type { Resource } from '../../resources/index.ts';
import {
  type CursorPosition,
  type CursorScope,
  describeLimit,
  hasSortIndex,
  listRecords,
  openCursor,
  type Page,
  type Restriction,
  sealCursor,
  TimeLimit,
} from '../../storage/index.ts';
import type { Decided, RequestContext, Result } from '../request-context.ts';
import { allowedWhere, restrictionFor } from './decide-request.ts';
import { projectEach, projectionFor } from './project-record.ts';

/** Returns the page of records that the filter matches and the decision allows. */
export async function listPage(context: RequestContext, { decision, secondDecision }: Decided): Promise<Result> {
  const { request, options, budget, tx, snapshot, resource } = context;
  const action = ACTIONS.get(request.action)?.decides as RuleAction;
  const limit = request.limit ?? (request.action === 'export' ? options.exportMax : options.pageDefault);
  const filter = resolveWhere(resource, request.where, { typed: request.typed });
  const where = all([allowedWhere(decision), filter]);
  const toCursorScope = (): CursorScope => ({ keys: options.cursorKeys, binding: cursorBinding(context, filter) });
  const sort = resolveSort(resource, sortOf(request));
  const projection = projectionFor(context, limit);
  const existence = request.action === 'listDeleted' ? 'deleted' : 'notDeleted';
  const listed = listRecords(tx, resource, {
    ...(await restrictionFor(context, { resource, action, where, existence })),
    decided: allowedWhere(decision),
    and: secondDecision && (await restrictionOf(context, secondDecision)),
    existence,
    definitions: snapshot.definitions,
    sort,
    limit,
    offset: request.offset,
    after: positionOf(context, toCursorScope),
    total: request.total,
    budget,
    now: tx.now,
    timeZone: options.timeZone,
  });
  const page = await listed.catch((error: unknown) => {
    throw explainSort(error, { resource, sort, existence });
  });
  const data = await projectEach(context, page.records, projection);
  const extras: Record<string, Json> = { count: page.records.length };
  if (page.total !== undefined) extras['total'] = page.total;
  if (page.next !== undefined) extras['nextCursor'] = sealCursor(page.next, toCursorScope(), { record: data.at(-1), sort });
  const warnings = warningsOf(context, page);
  if (warnings.length > 0) extras['warnings'] = warnings;
  return { status: 200, data, extras, next: page.next };
}

/** Returns the position of the cursor. Opens the cursor of an export to a file too, because it is valid only for one list and caller. */
function positionOf({ request, after }: RequestContext, toScope: () => CursorScope): CursorPosition | undefined {
  if (request.cursor === undefined) return undefined;
  const opened = openCursor(request.cursor, toScope());
  return after ?? opened;
}

interface SortedList {
  readonly resource: Resource;
  readonly sort: ReturnType<typeof resolveSort>;
  readonly existence: 'deleted' | 'notDeleted';
}

/** Returns the error of a list whose time is up, with the index that its sort lacks: the list would fail each time. */
function explainSort(error: unknown, { resource, sort: [first], existence }: SortedList): unknown {
  if (!(error instanceof TimeLimit) || first === undefined || hasSortIndex(resource, first.field, existence)) return error;
  const { name, unique } = first.field;
  // A field cannot have a unique index, which leaves out deleted records, and another one.
  const index = unique ? '' : `add "index: true" to the field "${name}" in the definition of ${resource.name}, or `;
  const hint = `${index}sort by a field with an index, such as id`;
  return new Problem('REQUEST_BUDGET', `${error.detail}: no index has the records in the order of "${name}"`, { hint, cause: error });
}

/** Returns the condition of the second decision, for example on `delete` for listDeleted, with scopes that have the action of that decision. */
async function restrictionOf(context: RequestContext, decision: Decision): Promise<Restriction> {
  const { resource, request } = context;
  const action = ACTIONS.get(request.action)?.alsoDecides as RuleAction;
  return restrictionFor(context, { resource, action, where: allowedWhere(decision) });
}

/** Returns the sort keys of the request. If it has none, soft-deleted records are sorted by the time of their deletion, newest first, as an index supports. */
function sortOf({ action, sort }: RequestContext['request']): readonly SortKey[] {
  return action === 'listDeleted' && sort.length === 0 ? [{ field: 'deletedAt', descending: true }] : sort;
}

function warningsOf({ budget }: RequestContext, { withoutTotal, truncated }: Page): string[] {
  const warnings: string[] = [];
  if (withoutTotal === 'inMemory') warnings.push('total is not available: a condition that applies here is evaluated record by record');
  if (withoutTotal === 'budget')
    warnings.push('total is not available: counting would exceed the limits of the request (scanMilliseconds, scanRows)');
  if (withoutTotal === 'changes')
    warnings.push('total is not available: records changed each time while they were counted; repeat the request');
  if (truncated !== undefined)
    warnings.push(`the page ends early at the limit of ${describeLimit(budget.limits, truncated)}; nextCursor continues the list`);
  return warnings;
}

/**
 * Returns a text that identifies the list of a cursor. A cursor is refused for a list with another filter, order or caller. The order and
 * spelling of comparisons do not count, so a cursor of a query string is valid for the same filter in a body.
 */
function cursorBinding({ request, principal, resource }: RequestContext, filter: Condition): string {
  return JSON.stringify([resource.name, request.action, principal.id ?? null, principal.role, filterKey(resource, filter), request.sort]);
}
