/** One question, answered four ways: by the pages of a list, record by record, by counting, and by the book. */

import { expect } from 'vitest';
import { createScope, type Principal, type ReferencedRecords, type ScopeInput } from '../../src/authz/context/index.ts';
import { type Decision, decide } from '../../src/authz/decision/index.ts';
import { type ApplicableRules, applicableRules, compilePolicies } from '../../src/authz/policies/index.ts';
import { ALWAYS, conditionPaths, UNRESOLVED } from '../../src/conditions/index.ts';
import { resolveSort, type SortKey } from '../../src/request/index.ts';
import type { StoredRecord } from '../../src/resources/index.ts';
import { type ListQuery, listRecords, loadReferenced, type Page, type Referring, type Transaction } from '../../src/storage/index.ts';
import { grantsIn, type WholeState } from '../policy-fixtures.ts';
import { decideByTheBook } from '../reference/reference-decider.ts';
import { AROUND, LAW_LIMITS, NOW, type PrincipalName, TIME_ZONE, type World } from './law-fixture.ts';

/** Who lists things under which policies, and how the pages are cut. */
export interface Question {
  readonly state: WholeState;
  readonly who: PrincipalName;
  readonly sort: readonly SortKey[];
  readonly limit: number;
}

/** What came of it; every id once, in order of ids. */
export interface Outcome {
  readonly listed: readonly string[];
  readonly alone: readonly string[];
  readonly byTheBook: readonly string[];
  /** Absent where it cannot be known without looking at every record. */
  readonly total: number | undefined;
  /** Ids of the rules that apply to who asks. */
  readonly applying: ReadonlySet<string>;
}

/** Asks in every way. */
export async function ask(world: World, question: Question): Promise<Outcome> {
  const principal = world.principals[question.who];
  const applicable = applicableRules(compilePolicies(question.state, world.definitions, LAW_LIMITS), {
    grants: grantsIn(question.state, principal.id),
    role: principal.role,
    resource: 'Thing',
    action: 'list',
    now: NOW,
  });
  const asking: Asking = { world, principal, applicable };
  const decision = await world.database.transaction((tx) => decideOn(tx, asking, UNRESOLVED));
  const pages = await listAll(asking, decision, question);
  return {
    listed: pages.flatMap(({ records }) => records.map(({ id }) => id)).toSorted(),
    alone: (await decideEach(asking)).toSorted(),
    byTheBook: decideEachByTheBook(asking, question.state).toSorted(),
    total: pages[0]?.total,
    applying: new Set(applicable.rules.map(({ id }) => id)),
  };
}

/** The law: all ways agree. */
export async function checkLaw(world: World, question: Question): Promise<Outcome> {
  const outcome = await ask(world, question);
  expect({ listed: outcome.listed, alone: outcome.alone }).toEqual({ listed: outcome.byTheBook, alone: outcome.byTheBook });
  if (outcome.total !== undefined) expect(outcome.total).toBe(outcome.listed.length);
  return outcome;
}

interface Asking {
  readonly world: World;
  readonly principal: Principal;
  readonly applicable: ApplicableRules;
}

function partsOf({ world, principal }: Asking, record: ScopeInput['record'], referred: ReferencedRecords): ScopeInput {
  const { thing: resource, definitions } = world;
  return { ...AROUND, principal, action: 'list', resource, definitions, record, referred };
}

/** As the service does: what the rules reach through references is loaded first. */
async function decideOn(tx: Transaction, asking: Asking, record: StoredRecord | typeof UNRESOLVED): Promise<Decision> {
  const { world, principal, applicable } = asking;
  const referring: Referring = { paths: applicable.reaches, principal, resource: world.thing, record };
  const referred = await loadReferenced(tx, world.definitions, referring);
  return decide(applicable, createScope(partsOf(asking, record, referred)), { userId: principal.id, role: principal.role });
}

async function decideEach(asking: Asking): Promise<readonly string[]> {
  const { database, records } = asking.world;
  const decisions = await database.transaction(async (tx) => {
    const made: Decision[] = [];
    for (const record of records) made.push(await decideOn(tx, asking, record));
    return made;
  });
  // With the record known there is nothing left to depend on.
  expect(decisions.filter(({ effect }) => effect === 'allow-where')).toEqual([]);
  return records.filter((_, index) => decisions[index]?.effect === 'allow').map(({ id }) => id);
}

function decideEachByTheBook({ world, principal }: Asking, state: WholeState): readonly string[] {
  const asked = { userId: principal.id, role: principal.role, resource: 'Thing', action: 'list' };
  const isAllowed = ({ id }: StoredRecord): boolean => decideByTheBook(state, { ...asked, facts: world.factsOf(principal, id) }).allowed;
  return world.records.filter(isAllowed).map(({ id }) => id);
}

/** Page by page, each in a transaction of its own, as requests come. */
async function listAll(asking: Asking, decision: Decision, { sort, limit }: Question): Promise<readonly Page[]> {
  if (decision.effect === 'deny') return [];
  const { world, principal } = asking;
  const { database, thing, definitions } = world;
  const where = decision.effect === 'allow' ? ALWAYS : decision.where;
  const referring = { paths: conditionPaths(where), principal, resource: thing, record: UNRESOLVED } as const;
  const ofCaller = await database.transaction((tx) => loadReferenced(tx, definitions, referring));
  const query: ListQuery = {
    where,
    definitions,
    limit,
    total: true,
    scanLimit: 10_000,
    now: NOW,
    timeZone: TIME_ZONE,
    scopeFor: (record, referred) => createScope(partsOf(asking, record, new Map([...ofCaller, ...referred]))),
    sort: resolveSort(thing, sort),
  };
  const pages: Page[] = [];
  for (let after: Page['next'], first = true; first || after !== undefined; first = false) {
    const page: Page = await database.transaction((tx) => listRecords(tx, thing, { ...query, after }));
    pages.push(page);
    after = page.next;
  }
  return pages;
}
