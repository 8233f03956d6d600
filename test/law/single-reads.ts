/** Evaluates conditions and decides on the records of the law fixture as the service does for single reads, and by the reference decider. */
import {
  createScope,
  type Principal,
  type ReferencedRecords,
  type RelatedRecords,
  type ScopeInput,
} from '../../src/authz/context/index.ts';
import { type Decision, decide } from '../../src/authz/decision/index.ts';
import type { ApplicableRules } from '../../src/authz/policies/index.ts';
import { type Path, type Scope, UNRESOLVED } from '../../src/conditions/index.ts';
import { Problem } from '../../src/errors.ts';
import { memoize } from '../../src/memoize.ts';
import type { StoredRecord } from '../../src/resources/index.ts';
import { createRelatedStore, loadReferenced, loadReferencedOfEach, type Transaction } from '../../src/storage/index.ts';
import type { WholeState } from '../policy-fixtures.ts';
import { createReferenceDecider } from '../reference/reference-decider.ts';
import type { RelatedResult } from '../reference/reference-facts.ts';
import { type LawFixture, NOW, REQUEST } from './law-fixture.ts';

/** A caller with policies, and how their decisions read the database. */
export interface CaseContext {
  readonly fixture: LawFixture;
  readonly principal: Principal;
  readonly applicable: ApplicableRules;
  /** True to evaluate many records with the same statements. */
  readonly isTogether: boolean;
  /** The records that single reads decide. */
  readonly decided: readonly StoredRecord[];
  /** Runs work in a transaction of its own, or in that of the case. */
  transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
}

/** Records that together read fewer related records than one decision may. */
const FEW = 15;

/** The record of a scope. */
type ScopeRecord = StoredRecord | typeof UNRESOLVED;

/** Returns the input of a scope. */
export function scopeInput({ fixture, principal }: CaseContext, record: ScopeRecord, referenced: ReferencedRecords): ScopeInput {
  const { thing: resource, definitions } = fixture;
  return { ...REQUEST, principal, action: 'list', resource, definitions, record, referenced };
}

/** The records to evaluate, and the paths that are read. */
interface Evaluation<T> {
  readonly paths: readonly Path[];
  readonly records: readonly ScopeRecord[];
  run(scope: Scope, record: ScopeRecord): T;
}

/** Evaluates each record as the service does: loads the records that the paths reach through references, and then related records as needed. */
export async function evaluateEach<T>(tx: Transaction, context: CaseContext, evaluation: Evaluation<T>): Promise<readonly T[]> {
  const inParts = (size: number): Promise<readonly T[]>[] =>
    partsOf(evaluation.records, size).map((records) => evaluateTogether(tx, context, { ...evaluation, records }));
  if (!context.isTogether) return (await Promise.all(inParts(1))).flat();
  try {
    return await evaluateTogether(tx, context, evaluation);
  } catch (error) {
    // All records together may read more related records than one decision may.
    if (!(error instanceof Problem && error.code === 'REQUEST_BUDGET')) throw error;
    return (await Promise.all(inParts(FEW))).flat();
  }
}

function partsOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

async function evaluateTogether<T>(tx: Transaction, context: CaseContext, { paths, records, run }: Evaluation<T>): Promise<readonly T[]> {
  const { fixture, principal } = context;
  const { thing: resource, definitions } = fixture;
  const load = (record: ScopeRecord): Promise<ReferencedRecords> => loadReferenced(tx, definitions, { paths, principal, resource, record });
  const referenced = new Map<ScopeRecord, ReferencedRecords>();
  if (context.isTogether) {
    const ofCaller = await load(UNRESOLVED);
    const known = records.filter((record) => record !== UNRESOLVED);
    const referencedOf = await loadOnce(records, paths, () =>
      loadReferencedOfEach({ tx, definitions }, { paths, resource, records: known }),
    );
    for (const record of records)
      referenced.set(record, record === UNRESOLVED ? ofCaller : new Map([...ofCaller, ...referencedOf(record)]));
  } else {
    for (const record of records) referenced.set(record, await load(record));
  }
  const related = createRelatedStore(tx, definitions);
  const evaluations = records.map((record) => {
    const { found, isComplete } = watchLookups(related);
    const scope = createScope({ ...scopeInput(context, record, referenced.get(record) ?? new Map()), related: found });
    return evaluateOnce(() => run(scope, record), isComplete);
  });
  return related.evaluate(() => evaluations.map((evaluation) => evaluation()));
}

type ReferencedOf = Awaited<ReturnType<typeof loadReferencedOfEach>>;

/** The referenced records of records, by the paths that are read. */
const loaded = new WeakMap<readonly ScopeRecord[], Map<string, ReferencedOf>>();

/** Loads referenced records once for the same rows and paths, which several callers and sets of policies have. */
async function loadOnce(records: readonly ScopeRecord[], paths: readonly Path[], load: () => Promise<ReferencedOf>): Promise<ReferencedOf> {
  const byPaths = memoize(loaded, records, () => new Map<string, ReferencedOf>());
  const read = new Set(paths.filter(({ group, keys }) => group === 'resource' && keys.length > 1).map(({ keys }) => keys.join('.')));
  const key = JSON.stringify([...read].toSorted());
  const known = byPaths.get(key) ?? (await load());
  byPaths.set(key, known);
  return known;
}

/** Wraps the records that others have loaded. `isComplete` returns true if every lookup since its last call has found its records. */
function watchLookups(related: RelatedRecords): { readonly found: RelatedRecords; isComplete(): boolean } {
  let isComplete = true;
  const watched = <Result>(result: Result): Result => {
    if (result === 'unknown') isComplete = false;
    return result;
  };
  return {
    found: {
      find: (condition, values) => watched(related.find(condition, values)),
      item: (some, id) => watched(related.item(some, id)),
      ancestors: (resource, id) => watched(related.ancestors(resource, id)),
    },
    isComplete() {
      const wasComplete = isComplete;
      isComplete = true;
      return wasComplete;
    },
  };
}

/** Returns a function that evaluates again until every lookup of an evaluation has found its records: while others wait for records, the result stays. */
function evaluateOnce<T>(run: () => T, isComplete: () => boolean): () => T {
  let done: { readonly result: T } | undefined;
  return () => {
    if (done !== undefined) return done.result;
    const result = run();
    if (isComplete()) done = { result };
    return result;
  };
}

/** Decides on each record. */
export function decideOnEach(tx: Transaction, context: CaseContext, records: readonly ScopeRecord[]): Promise<readonly Decision[]> {
  const { applicable, principal } = context;
  const run = (scope: Scope): Decision => decide(applicable, scope, { userId: principal.id, role: principal.role });
  return evaluateEach(tx, context, { paths: applicable.referencePaths, records, run });
}

/** The ids of the records that the reference decider allows, and the results of conditions on related records that it found for any record. */
interface ReferenceOutcome {
  readonly byReference: readonly string[];
  readonly related: ReadonlySet<RelatedResult>;
}

/** Decides on all records by the reference decider. */
export function decideByReference({ fixture, principal }: CaseContext, state: WholeState): ReferenceOutcome {
  const request = { userId: principal.id, role: principal.role, resource: 'Thing', action: 'list', now: NOW };
  const decideOn = createReferenceDecider(state, request);
  const related = new Set<RelatedResult>();
  const onRelated = (result: RelatedResult): void => void related.add(result);
  const allowed = fixture.records.filter(({ id }) => decideOn({ ...fixture.factsOf(principal, id), onRelated }).allowed);
  return { byReference: allowed.map(({ id }) => id).toSorted(), related };
}
