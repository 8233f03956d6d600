import { ACTIONS, type RuleAction } from '../../actions.ts';
import type { Decision } from '../../authz/decision/index.ts';
import { all } from '../../conditions/index.ts';
import { resolveSort, resolveWhere, type SortKey } from '../../request/index.ts';

import { listRecords, openCursor, type Page, type Restriction, sealCursor } from '../../storage/index.ts';
import type { Decided, Job, Result } from '../step-context.ts';
import { allowedWhere, scopesFor } from './decision-scopes.ts';
import { readShowing, showEach } from './project-record.ts';

/** The page of records that the filter matches and the decision allows. */
export async function select(job: Job, { decision, also }: Decided): Promise<Result> {
  const { request, settings, tx, model, resource } = job;
  const action = ACTIONS.get(request.action)?.decides as RuleAction;
  const limit = request.limit ?? (request.action === 'export' ? settings.exportMax : settings.pageDefault);
  const where = all([allowedWhere(decision), resolveWhere(resource, request.where, { typed: request.typed })]);
  const binding = bindingOf(job);
  const showing = readShowing(job, limit);
  const page = await listRecords(tx, resource, {
    where,
    scopeFor: await scopesFor(job, { resource, action, where }),
    and: also && (await restrictionOf(job, also)),
    existence: request.action === 'listDeleted' ? 'deleted' : 'living',
    definitions: model.definitions,
    sort: resolveSort(resource, sortOf(request)),
    limit,
    offset: request.offset,
    after: request.cursor === undefined ? undefined : openCursor(request.cursor, settings.cursorKey, binding),
    total: request.total,
    scanLimit: settings.scanRows,
    scanMilliseconds: settings.scanMilliseconds,
    now: tx.now,
    timeZone: settings.timeZone,
  });
  const next = page.next === undefined ? {} : { nextCursor: sealCursor(page.next, settings.cursorKey, binding) };
  const total = page.total === undefined ? {} : { total: page.total };
  const warnings = warningsOf(job, page);
  return {
    status: 200,
    data: await showEach(job, page.records, showing),
    extras: { count: page.records.length, ...total, ...next, ...(warnings.length > 0 ? { warnings } : {}) },
  };
}

/** What another decision leaves. Its conditions see the action that it decided on, which is not that of the list. */
async function restrictionOf(job: Job, decision: Decision): Promise<Restriction> {
  const { resource, request } = job;
  const where = allowedWhere(decision);
  const action = ACTIONS.get(request.action)?.alsoDecides as RuleAction;
  return { where, scopeFor: await scopesFor(job, { resource, action, where }) };
}

/** What was deleted last is what somebody looks for among the deleted, and where an index leads. */
function sortOf({ action, sort }: Job['request']): readonly SortKey[] {
  return action === 'listDeleted' && sort.length === 0 ? [{ field: 'deletedAt', descending: true }] : sort;
}

function warningsOf({ request, settings }: Job, { total, truncated }: Page): string[] {
  const warnings: string[] = [];
  if (request.total && total === undefined)
    warnings.push('total is not available: a condition that applies here is evaluated record by record');
  if (truncated !== undefined) {
    const { scanRows, scanMilliseconds } = settings;
    const bound = truncated === 'scanLimit' ? `${scanRows} rows (scanRows)` : `${scanMilliseconds} ms (scanMilliseconds)`;
    warnings.push(
      `the page ends early: a condition that applies here was evaluated record by record for ${bound}; nextCursor continues the list`,
    );
  }
  return warnings;
}

/** What a cursor is good for: this list, in this order, for this caller. */
function bindingOf({ request, principal, resource }: Job): string {
  const parts = [resource.name, request.action, principal.id ?? null, principal.role, request.where, request.sort, request.typed];
  return JSON.stringify(parts);
}
