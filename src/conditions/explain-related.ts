import { type Condition, type Operand, type Related, type RelatedRecord, type Scope, type Some, UNRESOLVED } from './condition.ts';
import type { ConditionTrace, RelatedLinkTrace, RelatedRecordTrace, RelatedTrace, TracedAnswer } from './condition-trace.ts';
import { resolveOperand } from './operand-values.ts';
import { printOperand } from './print-operand.ts';
import { withRelatedRecord } from './related-evaluation.ts';
import { traceResidual } from './residual-trace.ts';
import { findItems, itemsOf, WITHOUT_VALUES } from './some-evaluation.ts';

/** Maximum related records in an explanation. */
const MAX_RECORDS = 3;

/** The answer of the condition, and the function that explains its `where`. */
interface RelatedExplanation {
  readonly answer: TracedAnswer;
  readonly scope: Scope;
  explain(condition: Condition, scope: Scope): ConditionTrace;
}

/** Explains a condition on related records. */
export function explainRelated(related: Related, { answer, scope, explain }: RelatedExplanation): RelatedTrace {
  const { resource, as, on, atLeast, atMost } = related;
  const values = on.map(({ operand }) => resolveOperand(operand, scope));
  const found = findRecords(related, values, scope);
  const traced =
    typeof found === 'string'
      ? undefined
      : found?.map((record) => {
          const where = explain(related.where, withRelatedRecord(scope, related, record));
          return { id: record.id, answer: where.answer, where };
        });
  return {
    type: 'related',
    resource,
    as,
    on: on.map(({ path, operand }, index) => toLinkTrace(path.keys[1] ?? '', operand, values[index])),
    ...(atLeast !== undefined && { atLeast }),
    ...(atMost !== undefined && { atMost }),
    answer,
    ...(found === 'tooMany' && { moreThan: related.limit }),
    ...(traced === undefined ? whereOf(related) : { counts: countAnswers(traced), records: nearestOf(traced) }),
  };
}

/** Explains a comparison through a list of references, like a condition on the related records whose ids are its items. */
export function explainSome(some: Some, { answer, scope, explain }: RelatedExplanation): RelatedTrace {
  const { path, resource, as, where, limit } = some;
  const value = scope.valueOf(path);
  const items = itemsOf(value);
  // A record that the list has twice is shown and counted once.
  const isTooLong = items !== UNRESOLVED && items.length > limit;
  const each = items === UNRESOLVED || isTooLong ? undefined : [...new Set(items)];
  const found = each === undefined ? UNRESOLVED : findItems(some, each, scope);
  const traced =
    found === UNRESOLVED || found === 'unknown'
      ? undefined
      : each?.map((id, index): RelatedRecordTrace => {
          const record = found[index];
          const trace = explain(where, withRelatedRecord(scope, some, record ?? WITHOUT_VALUES));
          return { id: id ?? '', ...(record === undefined && { missing: true as const }), answer: trace.answer, where: trace };
        });
  return {
    type: 'related',
    resource,
    as,
    list: path.text,
    on: [toLinkTrace('id', { type: 'reference', path }, value)],
    atLeast: 1,
    answer,
    ...(isTooLong && { moreThan: limit }),
    ...(traced !== undefined && { counts: countAnswers(traced), records: nearestOf(traced) }),
    ...((traced === undefined || traced.length === 0) && { where: explain(where, withRelatedRecord(scope, some, UNRESOLVED)) }),
  };
}

type LinkValue = ReturnType<typeof resolveOperand>;

/** Returns the related records; undefined if they are not known. */
function findRecords(related: Related, values: readonly LinkValue[], scope: Scope): readonly RelatedRecord[] | 'tooMany' | undefined {
  const known = values.filter((value) => value !== undefined && value !== null && value !== UNRESOLVED);
  if (known.length < values.length) return undefined;
  const found = scope.related?.find(related, known);
  return found === undefined || found === 'unknown' || found === UNRESOLVED ? undefined : found;
}

/** Returns the condition on a related record; nothing if each one counts. */
function whereOf(related: Related): Pick<RelatedTrace, 'where'> {
  const { where } = traceResidual(related) as RelatedTrace;
  return where === undefined ? {} : { where };
}

function toLinkTrace(field: string, operand: Operand, value: LinkValue): RelatedLinkTrace {
  if (value === undefined) return { field, missing: true };
  return value === UNRESOLVED ? { field, written: printOperand(operand) } : { field, expected: value };
}

function countAnswers(traced: readonly RelatedRecordTrace[]): NonNullable<RelatedTrace['counts']> {
  const counts = { true: 0, false: 0, unknown: 0 };
  for (const { answer } of traced) if (answer !== 'open') counts[answer]++;
  return counts;
}

function nearestOf(traced: readonly RelatedRecordTrace[]): readonly RelatedRecordTrace[] {
  const ranked = traced.map((record) => ({ record, unmet: record.answer === 'true' ? 0 : 1 + countUnmet(record.where) }));
  return ranked
    .sort((a, b) => a.unmet - b.unmet)
    .slice(0, MAX_RECORDS)
    .map(({ record }) => record);
}

/** Counts the comparisons in a trace that are not true. */
function countUnmet(trace: ConditionTrace): number {
  if (trace.type === 'all' || trace.type === 'any') return trace.of.reduce((sum, each) => sum + countUnmet(each), 0);
  return trace.answer === 'true' ? 0 : 1;
}
