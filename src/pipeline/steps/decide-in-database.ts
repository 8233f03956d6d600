/** Decides on a record whose conditions read more related records than one decision may load: the database evaluates them, as it does for a list. */
import { type Decision, decide, whereFalse, whereTrue } from '../../authz/decision/index.ts';
import type { CompiledRule } from '../../authz/policies/index.ts';
import { type Condition, conditionPaths, constant, type Scope, UNRESOLVED } from '../../conditions/index.ts';
import { type JsonObject, UNKNOWN } from '../../operators/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { isExactInSql, loadDeletedRecord, loadRecord, matchRecord, type RecordMatch, resourcesReachedBy } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';
import type { DecisionInput, MadeDecision, ScopeValues } from './decision-entry.ts';

/** Creates the scope of a decision. */
type ToScope = (values: ScopeValues) => Scope;

/**
 * Decides as `decide` does, with the answers of the database for rules whose conditions depend on related records. Returns undefined for a
 * record that is not stored, and for conditions that the database cannot evaluate: a list evaluates those in memory, with the same limit.
 */
export async function decideInDatabase(context: RequestContext, input: DecisionInput, toScope: ToScope): Promise<MadeDecision | undefined> {
  const { resource, record } = input;
  if (record === undefined || record === UNRESOLVED) return undefined;
  const found = await findStored(context, input);
  if (found === undefined) return undefined;
  const from = performance.now();
  const known = withoutRecords(toScope(input));
  // The changed record of an update is not stored, so its values are literals of the condition. Columns, and paths that lead back to its resource,
  // have the stored values instead.
  const isStored = hasSameValues(found.record, record);
  const scope = isStored ? withoutRecords(toScope({ ...input, record: UNRESOLVED })) : known;
  const readsResource = (where: Condition): boolean =>
    conditionPaths(where).some(({ group }) => group === 'resource') || resourcesReachedBy(where, { resource, ...found }).has(resource.name);
  const matches = async (where: Condition): Promise<boolean | undefined> =>
    isStored || !readsResource(where) ? matchRecord(context.tx, resource, { ...found, where }) : undefined;
  const decision = await answerRules(context, input, { scope, matches });
  return decision && { decision, scope: known, milliseconds: performance.now() - from };
}

/** Returns a scope in which related records, ancestors and records of lists are not known yet. Their fields keep their kinds. */
function withoutRecords(scope: Scope): Scope {
  const unresolved = (): typeof UNRESOLVED => UNRESOLVED;
  return { ...scope, related: scope.related && { ...scope.related, find: unresolved, ancestors: unresolved, item: unresolved } };
}

/** Returns the stored record with the id of the decided one. */
async function findStored(
  { tx, snapshot: { definitions }, options: { timeZone } }: RequestContext,
  { resource, record, recordId }: DecisionInput,
): Promise<Omit<RecordMatch, 'where'> | undefined> {
  const id = recordId ?? (record as StoredRecord).id;
  if (typeof id !== 'string') return undefined;
  const present = await loadRecord(tx, resource, id);
  if (present !== undefined) return { record: present, definitions, timeZone };
  const deleted = resource.softDelete ? await loadDeletedRecord(tx, resource, id) : undefined;
  return deleted && { record: deleted, existence: 'deleted', definitions, timeZone };
}

function hasSameValues(stored: JsonObject, decided: JsonObject): boolean {
  const names = Object.keys({ ...stored, ...decided });
  return names.every((name) => JSON.stringify(stored[name]) === JSON.stringify(decided[name]));
}

/** The scope in which rules are open, and the result of their conditions in the database. */
interface Answers {
  readonly scope: Scope;
  /** Returns whether the record matches a condition; undefined if the database cannot evaluate it. */
  matches(where: Condition): Promise<boolean | undefined>;
}

/** Asks for the result of one open rule after the other, in their order, until the decision is final. */
async function answerRules(context: RequestContext, input: DecisionInput, { scope, matches }: Answers): Promise<Decision | undefined> {
  const { principal, tx, snapshot, options } = context;
  const { applicable, resource } = input;
  const moment = { dialect: tx.dialect, now: tx.now, timeZone: options.timeZone, definitions: snapshot.definitions };
  const answered = new Map<CompiledRule, CompiledRule>();
  for (;;) {
    const rules = applicable.rules.map((rule) => answered.get(rule) ?? rule);
    const decision = decide({ ...applicable, rules }, scope, { userId: principal.id, role: principal.role });
    if (decision.effect !== 'allow-where') {
      const fired = decision.rule && applicable.rules[rules.indexOf(decision.rule)];
      return fired === undefined ? decision : { ...decision, rule: fired };
    }
    // A list evaluates the whole condition in one way.
    const [rule] = decision.rules;
    if (rule === undefined || !isExactInSql(decision.where, resource, moment)) return undefined;
    const passes = await matches(rule.effect === 'ALLOW' ? whereTrue(rule.toResidual(scope)) : whereFalse(rule.toResidual(scope)));
    if (passes === undefined) return undefined;
    const result = constant(passes ? rule.effect === 'ALLOW' : UNKNOWN);
    answered.set(rule, { ...rule, toResidual: () => result });
  }
}
