/** Decides one case in four ways: by the pages of a list, by single reads, by a total, and by the reference decider. */

import { expect } from 'vitest';
import { createScope } from '../../src/authz/context/index.ts';
import { type Decision, whereTrue } from '../../src/authz/decision/index.ts';
import { applicableRules, compilePolicies, type PolicySnapshot } from '../../src/authz/policies/index.ts';
import { ALWAYS, type Condition, conditionPaths, evaluate, relatedIn, UNRESOLVED } from '../../src/conditions/index.ts';
import { memoize } from '../../src/memoize.ts';
import { resolveSort, type SortKey } from '../../src/request/index.ts';
import type { StoredRecord } from '../../src/resources/index.ts';
import {
  type BudgetLimits,
  createBudget,
  type ListQuery,
  listRecords,
  loadDescendantsOfList,
  loadReferenced,
  loadRelatedOfList,
  type Page,
  type Transaction,
  type TransactionOptions,
} from '../../src/storage/index.ts';
import { compileList } from '../../src/storage/lists/compile-list.ts';
import { toOrder } from '../../src/storage/lists/cursor-pagination.ts';
import { alternativesOf } from '../../src/storage/lists/list-alternatives.ts';
import { replaceMembers } from '../../src/storage/storage.fixture.ts';
import { assignmentsIn, type WholeState } from '../policy-fixtures.ts';
import type { RelatedResult } from '../reference/reference-facts.ts';
import { LAW_LIMITS, type LawFixture, NOW, type PrincipalName, TIME_ZONE } from './law-fixture.ts';
import { type CaseContext, decideByReference, decideOnEach, evaluateEach, scopeInput } from './single-reads.ts';

/** A list of all things by one caller with one set of policies, in one order and page size. */
export interface LawCase {
  readonly state: WholeState;
  readonly who: PrincipalName;
  readonly sort: readonly SortKey[];
  readonly limit: number;
  /** Decides one record in three one by one: those from this index. By default, all of them. */
  readonly third?: number;
}

/** The ids that each way allows, sorted. */
export interface Outcome {
  readonly listed: readonly string[];
  /** The records that were decided by single reads. */
  readonly decided: readonly string[];
  readonly single: readonly string[];
  readonly byReference: readonly string[];
  /** The results of conditions on related records that the reference decider found for any record. */
  readonly related: ReadonlySet<RelatedResult>;
  /** Undefined if the total would need a look at every record. */
  readonly total: number | undefined;
  /** True if the list was also read with comparisons instead of conditions on related records. */
  readonly isReplaced: boolean;
  /** True if the list was read from alternatives of its condition. */
  readonly hasAlternatives: boolean;
  /** Ids of the rules that apply to the caller. */
  readonly applying: ReadonlySet<string>;
}

/** Work of a case on a busy machine may take longer than a request may. */
export const UNLIMITED: TransactionOptions = { unlimited: true };

/** Policies in compiled form: the cases of several callers have the same ones. */
const compiled = new WeakMap<WholeState, PolicySnapshot>();

/**
 * Decides the case in every way. With `tx`, in this transaction, in which many records are decided with the same statements. Otherwise
 * each decision and each page has its own.
 */
async function runCase(fixture: LawFixture, { state, who, third, ...order }: LawCase, tx: Transaction | undefined): Promise<Outcome> {
  const principal = fixture.principals[who];
  const snapshot = memoize(compiled, state, () => compilePolicies(state, fixture.definitions, LAW_LIMITS));
  const { id, role } = principal;
  const request = { assignments: assignmentsIn(state, id), role, resource: 'Thing', action: 'list', now: NOW } as const;
  const applicable = applicableRules(snapshot, request);
  const context: CaseContext = {
    fixture,
    principal,
    applicable,
    isTogether: tx !== undefined,
    decided: third === undefined ? fixture.records : fixture.records.filter((_, index) => index % 3 === third),
    transact: (work) => (tx === undefined ? fixture.database.transaction(work, UNLIMITED) : work(tx)),
  };
  return {
    ...(await decideCase(context, order)),
    ...decideByReference(context, state),
    applying: new Set(applicable.rules.map((rule) => rule.id)),
  };
}

/** The order and the size of the pages. */
type Order = Pick<LawCase, 'sort' | 'limit'>;

async function decideCase(context: CaseContext, order: Order): Promise<Omit<Outcome, 'byReference' | 'related' | 'applying'>> {
  const { decided } = context;
  const [decision] = await context.transact((tx) => decideOnEach(tx, context, [UNRESOLVED]));
  const { records: listed, total, ...how } = await listAll(context, decision as Decision, order);
  const decisions = await context.transact((tx) => decideOnEach(tx, context, decided));
  // With a known record, no decision depends on a residual condition.
  expect(decisions.filter(({ effect }) => effect === 'allow-where')).toEqual([]);
  const single = decided.filter((_, index) => decisions[index]?.effect === 'allow');
  return { ...how, total, decided: idsOf(decided), listed: idsOf(listed), single: idsOf(single) };
}

function idsOf(records: readonly StoredRecord[]): readonly string[] {
  return records.map(({ id }) => id).toSorted();
}

/** Expects the law: all ways agree. */
export async function checkLaw(fixture: LawFixture, lawCase: LawCase, tx?: Transaction): Promise<Outcome> {
  const outcome = await runCase(fixture, lawCase, tx);
  const { listed, single, byReference } = outcome;
  const decided = new Set(outcome.decided);
  expect({ listed, single }).toEqual({ listed: byReference, single: byReference.filter((id) => decided.has(id)) });
  if (outcome.total !== undefined) expect(outcome.total).toBe(outcome.listed.length);
  return outcome;
}

/** The list of all pages, and the total of the first one. */
interface Listed extends Pick<Outcome, 'isReplaced' | 'hasAlternatives'> {
  readonly records: readonly StoredRecord[];
  readonly total: number | undefined;
}

/** Limits that no page reaches. */
const AMPLE: BudgetLimits = { milliseconds: 60_000, rows: 10_000, answerBytes: 100_000_000 };
/** Limits that end each page after three windows. The smaller windows take many statements. */
const NARROW: BudgetLimits = { ...AMPLE, rows: 45, windowRows: 17 };
/** The page size of lists with these limits. */
const NARROW_PAGE = 40;
const NARROWEST: BudgetLimits = { ...AMPLE, rows: 7, windowRows: 3 };
/** The page size of most lists with replaced conditions, in two pages. One in eight has the small pages of its case. */
const REPLACED_PAGE = 75;
/** The page size up to which a list with replaced conditions has the pages of its case. */
const SMALL_PAGE = 20;

/** Lists all pages. Lists again with comparisons instead of conditions on related records, if there are any, and expects the same records. */
async function listAll(context: CaseContext, decision: Decision, order: Order): Promise<Listed> {
  if (decision.effect === 'deny') return { records: [], total: undefined, isReplaced: false, hasAlternatives: false };
  const where = decision.effect === 'allow' ? ALWAYS : decision.where;
  const listed = await listWhere(context, where, order);
  const pages = order.limit <= SMALL_PAGE ? order : { ...order, limit: REPLACED_PAGE };
  const byDescendants = await replaceWithin(context, where);
  if (byDescendants !== undefined) {
    const same = await listWhere(context, byDescendants, pages);
    expect(same.records.map(({ id }) => id)).toEqual(listed.records.map(({ id }) => id));
  }
  const hasAlternatives = await context.transact(async (tx) => findsAlternatives(tx, context, { where, order }));
  const replaced = await replaceEach(context, where);
  if (replaced === undefined) return { ...listed, isReplaced: false, hasAlternatives };
  const again = await listWhere(context, whereTrue(replaced), pages);
  expect(again.records.map(({ id }) => id)).toEqual(listed.records.map(({ id }) => id));
  return { ...listed, isReplaced: true, hasAlternatives };
}

/** Returns true if a list is read from alternatives of its condition. */
function findsAlternatives(
  tx: Transaction,
  { fixture: { thing, definitions } }: CaseContext,
  { where, order }: { readonly where: Condition; readonly order: Order },
): boolean {
  const moment = { definitions, existence: undefined, now: NOW, timeZone: TIME_ZONE };
  const list = compileList(tx, thing, { condition: where, ...moment });
  return alternativesOf(list, { tx, resource: thing, order: toOrder(thing, resolveSort(thing, order.sort)), ...moment }).length > 0;
}

/** Returns the transaction as that of a short attempt, in which PostgreSQL counts a list in the statement of its page. */
function asShort(tx: Transaction): Transaction {
  return replaceMembers(tx, { attempt: 'short' });
}

/** Replaces conditions on ancestors by comparisons with descendants; undefined if none can be replaced. */
async function replaceWithin(context: CaseContext, where: Condition): Promise<Condition | undefined> {
  const { definitions } = context.fixture;
  const { kindOf } = createScope(scopeInput(context, UNRESOLVED, new Map()));
  const replaced = await context.transact((tx) => loadDescendantsOfList(tx, { where, definitions, kindOf }));
  return replaced === where ? undefined : replaced;
}

/** Replaces conditions on related records by comparisons, and expects the same three-valued result for each record. Returns undefined if none can be replaced. */
async function replaceEach(context: CaseContext, where: Condition): Promise<Condition | undefined> {
  const { decided: records } = context;
  const { definitions, thing } = context.fixture;
  const counted = relatedIn(where).length;
  if (counted === 0) return undefined;
  const paths = conditionPaths(where);
  return context.transact(async (tx) => {
    const ofCaller = await loadReferenced(tx, definitions, { paths, principal: context.principal, resource: thing, record: UNRESOLVED });
    const replaced = await loadRelatedOfList(tx, {
      where,
      resource: thing,
      definitions,
      withoutIndex: true,
      scopeWith: (related) => createScope({ ...scopeInput(context, UNRESOLVED, ofCaller), related }),
    });
    if (relatedIn(replaced).length === counted) return undefined;
    const run: Parameters<typeof evaluateEach<{ expected: unknown; given: unknown }>>[2]['run'] = (scope) => ({
      expected: evaluate(where, scope),
      given: evaluate(replaced, scope),
    });
    const truths = await evaluateEach(tx, context, { paths, records, run });
    for (const [index, { id }] of records.entries())
      expect({ id, truth: truths[index]?.given }).toEqual({ id, truth: truths[index]?.expected });
    return replaced;
  });
}

/** Lists all pages, each in its own transaction as separate requests do, unless the case has one. In a quarter of the cases pages end early, between windows. */
async function listWhere(
  context: CaseContext,
  where: Condition,
  { sort, limit }: Order,
): Promise<Omit<Listed, 'isReplaced' | 'hasAlternatives'>> {
  const { fixture, principal } = context;
  const { thing, definitions } = fixture;
  const referring = { paths: conditionPaths(where), principal, resource: thing, record: UNRESOLVED } as const;
  const callerReferences = await context.transact((tx) => loadReferenced(tx, definitions, referring));
  const load = (limits: BudgetLimits, query: Pick<ListQuery, 'limit' | 'after' | 'total'>): Promise<Page> =>
    context.transact((tx) =>
      listRecords(query.total && query.limit > 0 ? asShort(tx) : tx, thing, {
        where,
        definitions,
        now: NOW,
        timeZone: TIME_ZONE,
        scopeFor: (record, { referenced, related }) =>
          createScope({ ...scopeInput(context, record, new Map([...callerReferences, ...referenced])), related }),
        sort: resolveSort(thing, sort),
        budget: createBudget(limits),
        ...query,
      }),
    );
  const narrow = context.isTogether ? NARROW : NARROWEST;
  const limits = limit === NARROW_PAGE ? narrow : AMPLE;
  const pages: Page[] = [];
  do pages.push(await load(limits, { limit, after: pages.at(-1)?.next, total: limits === AMPLE && pages.length === 0 }));
  while (pages.at(-1)?.next !== undefined);
  const records = pages.flatMap((page) => page.records);
  const [first] = pages;
  // Without a next page, the total is the number of records, without a count.
  const isCounted = first?.withoutTotal === 'inMemory' || (first?.total !== undefined && (first.next !== undefined || records.length < 2));
  return { records, total: isCounted ? first.total : (await load(AMPLE, { limit: 0, total: true })).total };
}
