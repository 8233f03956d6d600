/** Decides one case in four ways: by the pages of a list, by single reads, by a total, and by the reference decider. */

import { expect } from 'vitest';
import { createScope, type Principal, type ReferencedRecords, type ScopeInput } from '../../src/authz/context/index.ts';
import { type Decision, decide, whereTrue } from '../../src/authz/decision/index.ts';
import { type ApplicableRules, applicableRules, compilePolicies } from '../../src/authz/policies/index.ts';
import { ALWAYS, type Condition, conditionPaths, evaluate, relatedIn, UNRESOLVED } from '../../src/conditions/index.ts';
import { resolveSort, type SortKey } from '../../src/request/index.ts';
import type { StoredRecord } from '../../src/resources/index.ts';
import {
  type BudgetLimits,
  createBudget,
  createRelatedStore,
  type ListQuery,
  listRecords,
  loadDescendantsOfList,
  loadReferenced,
  loadRelatedOfList,
  type Page,
  type ReferenceQuery,
  type Transaction,
  type TransactionOptions,
} from '../../src/storage/index.ts';
import { assignmentsIn, type WholeState } from '../policy-fixtures.ts';
import { decideByReference } from '../reference/reference-decider.ts';
import { LAW_LIMITS, type LawFixture, NOW, type PrincipalName, REQUEST, TIME_ZONE } from './law-fixture.ts';

/** A list of things: the policies, the caller, the sort order and the page size. */
export interface LawCase {
  readonly state: WholeState;
  readonly who: PrincipalName;
  readonly sort: readonly SortKey[];
  readonly limit: number;
}

/** The ids that each way allows, sorted. */
export interface Outcome {
  readonly listed: readonly string[];
  readonly single: readonly string[];
  readonly byReference: readonly string[];
  /** Undefined if the total would need a look at every record. */
  readonly total: number | undefined;
  /** True if the list was also read with comparisons instead of conditions on related records. */
  readonly isReplaced: boolean;
  /** Ids of the rules that apply to the caller. */
  readonly applying: ReadonlySet<string>;
}

/** Work of a case on a busy machine may take longer than a request may. */
const UNLIMITED: TransactionOptions = { longRunning: true };

/** Decides the case in every way. */
export async function runCase(fixture: LawFixture, lawCase: LawCase): Promise<Outcome> {
  const principal = fixture.principals[lawCase.who];
  const applicable = applicableRules(compilePolicies(lawCase.state, fixture.definitions, LAW_LIMITS), {
    assignments: assignmentsIn(lawCase.state, principal.id),
    role: principal.role,
    resource: 'Thing',
    action: 'list',
    now: NOW,
  });
  const context: CaseContext = { fixture, principal, applicable };
  const decision = await fixture.database.transaction((tx) => decideOn(tx, context, UNRESOLVED), UNLIMITED);
  const { records, total, isReplaced } = await listAll(context, decision, lawCase);
  return {
    isReplaced,
    listed: records.map(({ id }) => id).toSorted(),
    single: (await decideEach(context)).toSorted(),
    byReference: decideEachByReference(context, lawCase.state).toSorted(),
    total,
    applying: new Set(applicable.rules.map(({ id }) => id)),
  };
}

/** Expects the law: all ways agree. */
export async function checkLaw(fixture: LawFixture, lawCase: LawCase): Promise<Outcome> {
  const outcome = await runCase(fixture, lawCase);
  expect({ listed: outcome.listed, single: outcome.single }).toEqual({ listed: outcome.byReference, single: outcome.byReference });
  if (outcome.total !== undefined) expect(outcome.total).toBe(outcome.listed.length);
  return outcome;
}

interface CaseContext {
  readonly fixture: LawFixture;
  readonly principal: Principal;
  readonly applicable: ApplicableRules;
}

function scopeInput({ fixture, principal }: CaseContext, record: ScopeInput['record'], referenced: ReferencedRecords): ScopeInput {
  const { thing: resource, definitions } = fixture;
  return { ...REQUEST, principal, action: 'list', resource, definitions, record, referenced };
}

/** Decides as the service does: loads the records that the rules reach through references first. */
async function decideOn(tx: Transaction, context: CaseContext, record: StoredRecord | typeof UNRESOLVED): Promise<Decision> {
  const { fixture, principal, applicable } = context;
  const referring: ReferenceQuery = { paths: applicable.referencePaths, principal, resource: fixture.thing, record };
  const referenced = await loadReferenced(tx, fixture.definitions, referring);
  const related = createRelatedStore(tx, fixture.definitions);
  const scope = createScope({ ...scopeInput(context, record, referenced), related });
  return related.evaluate(() => decide(applicable, scope, { userId: principal.id, role: principal.role }));
}

async function decideEach(context: CaseContext): Promise<readonly string[]> {
  const { database, records } = context.fixture;
  // Together, because the statements of all decisions are then sent in a few messages.
  const decisions = await database.transaction((tx) => Promise.all(records.map((record) => decideOn(tx, context, record))), UNLIMITED);
  // With a known record, no decision depends on a residual condition.
  expect(decisions.filter(({ effect }) => effect === 'allow-where')).toEqual([]);
  return records.filter((_, index) => decisions[index]?.effect === 'allow').map(({ id }) => id);
}

function decideEachByReference({ fixture, principal }: CaseContext, state: WholeState): readonly string[] {
  const asked = { userId: principal.id, role: principal.role, resource: 'Thing', action: 'list' };
  const isAllowed = ({ id }: StoredRecord): boolean =>
    decideByReference(state, { ...asked, facts: fixture.factsOf(principal, id) }).allowed;
  return fixture.records.filter(isAllowed).map(({ id }) => id);
}

/** The list of all pages, and the total of the first one. */
interface Listed extends Pick<Outcome, 'isReplaced'> {
  readonly records: readonly StoredRecord[];
  readonly total: number | undefined;
}

/** Limits that no page reaches. */
const AMPLE: BudgetLimits = { milliseconds: 60_000, rows: 10_000, answerBytes: 100_000_000 };
/** Limits that end each page after three windows. */
const NARROW: BudgetLimits = { ...AMPLE, rows: 7, windowRows: 3 };

/** Lists all pages. Lists again with comparisons instead of conditions on related records, if there are any, and expects the same records. */
async function listAll(context: CaseContext, decision: Decision, lawCase: LawCase): Promise<Listed> {
  if (decision.effect === 'deny') return { records: [], total: undefined, isReplaced: false };
  const where = decision.effect === 'allow' ? ALWAYS : decision.where;
  const listed = await listWhere(context, where, lawCase);
  // Small pages take many statements.
  const byDescendants = lawCase.limit < 40 ? undefined : await replaceWithin(context, where);
  if (byDescendants !== undefined) {
    const same = await listWhere(context, byDescendants, lawCase);
    expect(same.records.map(({ id }) => id)).toEqual(listed.records.map(({ id }) => id));
  }
  const replaced = await replaceEach(context, where);
  if (replaced === undefined) return { ...listed, isReplaced: false };
  const again = await listWhere(context, whereTrue(replaced), lawCase);
  expect(again.records.map(({ id }) => id)).toEqual(listed.records.map(({ id }) => id));
  return { ...listed, isReplaced: true };
}

/** Replaces conditions on ancestors by comparisons with descendants; undefined if none can be replaced. */
async function replaceWithin(context: CaseContext, where: Condition): Promise<Condition | undefined> {
  const { database, definitions } = context.fixture;
  const { kindOf } = createScope(scopeInput(context, UNRESOLVED, new Map()));
  const replaced = await database.transaction((tx) => loadDescendantsOfList(tx, { where, definitions, kindOf }), UNLIMITED);
  return replaced === where ? undefined : replaced;
}

/** Replaces conditions on related records by comparisons, and expects the same three-valued result for each record. Returns undefined if none can be replaced. */
async function replaceEach(context: CaseContext, where: Condition): Promise<Condition | undefined> {
  const { database, definitions, records, thing } = context.fixture;
  const counted = relatedIn(where).length;
  if (counted === 0) return undefined;
  return database.transaction(async (tx) => {
    const loadFor = (record: ScopeInput['record']): Promise<ReferencedRecords> =>
      loadReferenced(tx, definitions, { paths: conditionPaths(where), principal: context.principal, resource: thing, record });
    const ofCaller = await loadFor(UNRESOLVED);
    const replaced = await loadRelatedOfList(tx, {
      where,
      resource: thing,
      definitions,
      withoutIndex: true,
      scopeWith: (related) => createScope({ ...scopeInput(context, UNRESOLVED, ofCaller), related }),
    });
    if (relatedIn(replaced).length === counted) return undefined;
    const truths = records.map(async (record) => {
      const related = createRelatedStore(tx, definitions);
      const scope = createScope({ ...scopeInput(context, record, await loadFor(record)), related });
      return related.evaluate(() => ({ id: record.id, expected: evaluate(where, scope), given: evaluate(replaced, scope) }));
    });
    for (const { id, expected, given } of await Promise.all(truths)) expect({ id, truth: given }).toEqual({ id, truth: expected });
    return replaced;
  }, UNLIMITED);
}

/** Lists all pages, each in its own transaction, as separate requests do. In half of the cases pages end early, between windows. */
async function listWhere(context: CaseContext, where: Condition, { sort, limit }: LawCase): Promise<Omit<Listed, 'isReplaced'>> {
  const { fixture, principal } = context;
  const { database, thing, definitions } = fixture;
  const referring = { paths: conditionPaths(where), principal, resource: thing, record: UNRESOLVED } as const;
  const callerReferences = await database.transaction((tx) => loadReferenced(tx, definitions, referring), UNLIMITED);
  const load = (limits: BudgetLimits, query: Pick<ListQuery, 'limit' | 'after' | 'total'>): Promise<Page> =>
    database.transaction(
      (tx) =>
        listRecords(tx, thing, {
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
      UNLIMITED,
    );
  const { total } = await load(AMPLE, { limit: 1, total: true });
  const limits = limit % 2 === 0 ? NARROW : AMPLE;
  const pages: Page[] = [];
  do pages.push(await load(limits, { limit, after: pages.at(-1)?.next }));
  while (pages.at(-1)?.next !== undefined);
  return { records: pages.flatMap(({ records }) => records), total };
}
