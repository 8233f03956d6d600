/** Evaluates a condition on related records: counts them by their result of `where`. */
import { type Json, OPERATORS, type Truth, UNKNOWN } from '../operators/index.ts';
import {
  all,
  type Condition,
  constant,
  type Path,
  type Related,
  type RelatedRecord,
  type Scope,
  type Some,
  UNRESOLVED,
} from './condition.ts';
import { compileOperand, type OperandResolver } from './operand-values.ts';

/** Creates the partial evaluator of a condition on related records, from that of its `where`. */
export function toRelatedEvaluator(related: Related, where: (scope: Scope) => Condition): (scope: Scope) => Condition {
  const resolvers = related.on.map(({ operand }) => compileOperand(operand));
  return (scope) => {
    const values: Json[] = [];
    const resolved = resolvers.map((resolve) => resolve(scope));
    let isOpen = scope.related === undefined;
    for (const [index, { path }] of related.on.entries()) {
      const value = resolved[index];
      if (value === UNRESOLVED) isOpen = true;
      else if (!canLink(value, path, { related, scope })) return constant(UNKNOWN);
      else values.push(value as Json);
    }
    const found = isOpen ? UNRESOLVED : (scope.related?.find(related, values) ?? UNRESOLVED);
    if (typeof found === 'string') return constant(UNKNOWN);
    const truth = found === UNRESOLVED ? undefined : evaluateRecords(found, related, { where, scope });
    return truth === undefined ? bindRelated(related, resolved, { where, scope }) : constant(truth);
  };
}

/** Returns true if records can be linked by a value: it is not missing or null, and fits the kind of the linking field. */
function canLink(value: Json | undefined, path: Path, { related, scope }: { readonly related: Related; readonly scope: Scope }): boolean {
  if (value === undefined || value === null) return false;
  const kind = scope.related?.kindOf(related.resource, path.keys.slice(1))?.kind;
  const context = { kind, now: scope.now, timeZone: scope.timeZone };
  // A value that does not fit the kind is not even equal to itself.
  return OPERATORS.get('eq')?.evaluate(value, value, context) === true;
}

/** Evaluates `where` in a scope. */
export interface WhereInScope {
  readonly where: (scope: Scope) => Condition;
  readonly scope: Scope;
}

/** The numbers of related records for which `where` is true or unknown. */
interface RelatedCounts {
  readonly true: number;
  readonly unknown: number;
}

/** Returns the result of a condition whose related records are known; undefined if `where` depends on a record that is not known yet. */
function evaluateRecords(records: readonly RelatedRecord[], related: Related, inScope: WhereInScope): Truth | undefined {
  return createRecordEvaluator(related, inScope)(records);
}

/** Creates the function that returns the result of a condition for its related records, to evaluate it for several sets of them. */
export function createRecordEvaluator(
  related: Related,
  { where, scope }: WhereInScope,
): (records: readonly RelatedRecord[]) => Truth | undefined {
  let current: RelatedRecord | typeof UNRESOLVED = UNRESOLVED;
  // One scope for all records: creating one takes longer than most comparisons.
  const inner = createRelatedScope(scope, related, () => current);
  return (records) => {
    const counts = { true: 0, unknown: 0 };
    for (const record of records) {
      current = record;
      const result = where(inner);
      if (result.type !== 'constant') return undefined;
      if (result.value === true) counts.true++;
      else if (result.value === UNKNOWN) counts.unknown++;
    }
    return truthOfCounts(related, counts);
  };
}

/** Returns the three-valued result of the bounds of a condition on related records. */
function truthOfCounts({ atLeast, atMost }: Related, { true: met, unknown }: RelatedCounts): Truth {
  const most = met + unknown;
  const bounds: Truth[] = [];
  if (atLeast !== undefined) bounds.push(met >= atLeast ? true : most < atLeast ? false : UNKNOWN);
  if (atMost !== undefined) bounds.push(most <= atMost ? true : met > atMost ? false : UNKNOWN);
  if (bounds.includes(false)) return false;
  return bounds.includes(UNKNOWN) ? UNKNOWN : true;
}

/** Returns the condition with literals instead of the paths whose values are known. */
function bindRelated(related: Related, resolved: readonly ReturnType<OperandResolver>[], { where, scope }: WhereInScope): Related {
  const on = related.on.map(({ path, operand }, index) => {
    const value = resolved[index];
    return value === UNRESOLVED || value === undefined ? { path, operand } : { path, operand: { type: 'literal' as const, value } };
  });
  return { ...related, on, where: all([where(withRelatedRecord(scope, related, UNRESOLVED))]) };
}

/** Returns the scope in which `where` is evaluated for a related record, or for one that is not known yet. */
export function withRelatedRecord(scope: Scope, related: Related | Some, record: RelatedRecord | typeof UNRESOLVED): Scope {
  return createRelatedScope(scope, related, () => record);
}

function createRelatedScope(scope: Scope, { as, resource }: Related | Some, recordOf: () => RelatedRecord | typeof UNRESOLVED): Scope {
  const isOwn = ({ group, keys }: Path): boolean => group === 'related' && keys[0] === as;
  const { kindsFrom, ...outer } = scope;
  return {
    ...outer,
    // Without related records, the kinds of their fields are not known, and must not be cached for scopes with them.
    ...(kindsFrom !== undefined && scope.related !== undefined && { kindsFrom }),
    valueOf: (path) => {
      if (!isOwn(path)) return scope.valueOf(path);
      const record = recordOf();
      return record === UNRESOLVED ? UNRESOLVED : record.valueOf(path.keys.slice(1));
    },
    kindOf: (path) => (isOwn(path) ? scope.related?.kindOf(resource, path.keys.slice(1)) : scope.kindOf(path)),
  };
}
