import { createHash } from 'node:crypto';
import { ACTIONS, type RuleAction } from '../actions.ts';
import { ALWAYS, all, type Condition, conditionPaths } from '../condition/index.ts';
import { createScope, OPEN, type ReferredRecords, type Scope } from '../context/index.ts';
import type { Decision } from '../decision/index.ts';
import { readFilter, readSort, type StoredRecord, showRecord } from '../resource/index.ts';
import { listRecords, loadReferred, openCursor, sealCursor } from '../storage/index.ts';
import type { Decided, Job, Result } from './job.ts';

/** The page of records that the filter matches and the decision allows. */
export async function select(job: Job, { decision }: Decided): Promise<Result> {
  const { request, settings, tx, model, principal, resource } = job;
  const where = all([allowedWhere(decision), readFilter(resource, request.where, { typed: request.typed })]);
  const binding = bindingOf(job);
  const paths = conditionPaths(where);
  const ofCaller = await loadReferred(tx, model.definitions, { paths, principal, resource, record: OPEN });
  const page = await listRecords(tx, resource, {
    where,
    scopeFor: (record, referred) => scopeOf(job, record, new Map([...ofCaller, ...referred])),
    definitions: model.definitions,
    sort: readSort(resource, request.sort),
    limit: request.limit ?? (request.action === 'export' ? settings.exportMax : settings.pageDefault),
    offset: request.offset,
    after: request.cursor === undefined ? undefined : openCursor(request.cursor, settings.cursorKey, binding),
    total: request.total,
    scanLimit: settings.scanRows,
    now: tx.now,
    timeZone: settings.timeZone,
  });
  const next = page.next === undefined ? {} : { nextCursor: sealCursor(page.next, settings.cursorKey, binding) };
  const total = page.total === undefined ? {} : { total: page.total };
  const warnings = warningsOf(job, page.total);
  return {
    status: 200,
    data: page.records.map((record) => showRecord(resource, record)),
    extras: { count: page.records.length, ...total, ...next, ...(warnings.length > 0 ? { warnings } : {}) },
  };
}

function allowedWhere(decision: Decision): Condition {
  if (decision.effect === 'allow-where') return decision.where;
  if (decision.effect === 'allow') return ALWAYS;
  throw new Error('a denied list reached the table');
}

function warningsOf({ request }: Job, total: number | undefined): string[] {
  return request.total && total === undefined
    ? ['total is not available: a condition that applies here is evaluated record by record']
    : [];
}

/** What a cursor is good for: this list, in this order, for this caller. */
function bindingOf({ request, principal, resource }: Job): string {
  const parts = [resource.name, request.action, principal.id ?? null, principal.role, request.where, request.sort, request.typed];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function scopeOf(job: Job, record: StoredRecord, referred: ReferredRecords): Scope {
  return createScope({
    principal: job.principal,
    action: ACTIONS.get(job.request.action)?.decides as RuleAction,
    resource: job.resource,
    record,
    recordId: record.id,
    referred,
    origin: job.origin,
    data: job.request.data,
    now: job.tx.now,
    timeZone: job.settings.timeZone,
    definitions: job.model.definitions,
  });
}
