/** Conditions of a trace as words. */
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolate, sentence } from '../../texts/sentence.ts';
import { type OperatorWords, operatorWords } from '../condition/condition-sentences.ts';
import type { Operator } from '../condition/operand-forms.ts';
import { type NamesById, nameOf } from '../names-by-id.ts';
import { type DeniedUpdate, wordsBeforeValue, wordsOfRemoval } from './denied-update.ts';

/** The evaluation of a condition. */
export type ConditionTrace = Schemas['admin.ConditionTrace'];

const texts = decisionsTexts.nearMiss;
const relatedTexts = decisionsTexts.related;
const ancestorTexts = decisionsTexts.ancestors;

/** The labels and names that the words of a condition contain, in addition to its trace. */
export interface TraceVocabulary {
  readonly operators: readonly Operator[];
  /** The names of users and records that are shown instead of their ids. */
  readonly names: NamesById;
  /** The denied update that the trace explains. */
  readonly update?: DeniedUpdate | undefined;
}

/** Returns a value as text: texts in quotes, lists in brackets, ids of users and records as their names. */
export function printValue(value: unknown, names: NamesById = {}): string {
  if (value === undefined) return decisionsTexts.noValue;
  const name = typeof value === 'string' ? nameOf(value, names) : undefined;
  if (name !== undefined) return isolate(name);
  return Array.isArray(value) ? `[${value.map((item) => printValue(item, names)).join(', ')}]` : isolate(JSON.stringify(value));
}

/** Returns the name of a record; its id if the name is not known. */
export function printRecord(id: string, names: NamesById): string {
  return isolate(nameOf(id, names) ?? id);
}

/** Returns the members of a group; none for a comparison. */
export function membersOf({ of }: ConditionTrace): readonly ConditionTrace[] {
  return of === undefined ? [] : Array.isArray(of) ? of : [of];
}

/** Returns the right side of a comparison: the reference as written, with its value. */
export function printExpected({ written, expected }: ConditionTrace, names: NamesById): string {
  return written === undefined ? printValue(expected, names) : `${written} (${printValue(expected, names)})`;
}

/** Returns the words of the operator of a comparison, as the builder of conditions shows them. */
export function traceOperatorWords({ operator = '', expected }: ConditionTrace, operators: readonly Operator[]): OperatorWords {
  return operatorWords({ operator, found: operators.find(({ name }) => name === operator), value: expected });
}

/** Returns the words of a condition on related records: `at least 1 Membership where userId is "u1": 0 of 2 meet the conditions`. */
export function describeRelatedTrace(trace: ConditionTrace, names: NamesById): string {
  const { resource = '', list, on = [], atLeast, atMost, counts, moreThan } = trace;
  const links = on.map(({ field, expected, missing }) =>
    relatedTexts.link(field, missing === true ? undefined : printValue(expected, names)),
  );
  const words =
    list === undefined
      ? relatedTexts.condition({ resource, links: links.join(relatedTexts.and), atLeast, atMost })
      : relatedTexts.list(list, resource);
  if (moreThan !== undefined) return [words, relatedTexts.moreThan(moreThan)].join(': ');
  if (counts === undefined) return words;
  return [words, relatedTexts.counts(counts.true, counts.true + counts.false + counts.unknown, counts.unknown)].join(': ');
}

/** Returns the words about the records that `within` has compared: `none of a, b is among them`; undefined for other conditions. */
export function describeAncestors({ ancestors }: ConditionTrace, names: NamesById): string | undefined {
  if (ancestors === undefined) return undefined;
  const { ids, matched, end } = ancestors;
  const print = (id: string): string => printRecord(id, names);
  if (matched !== undefined) return ancestorTexts.matched(print(matched));
  if (ids.length === 0) return undefined;
  return end === 'limit' ? ancestorTexts.limit(ids.length) : ancestorTexts[end](ids.map(print).join(', '));
}

/**
 * Returns the conditions of the related record that lacks least; undefined if each record meets them, because then there are too few or too many
 * records. Without records, a list of references has the conditions that none of its items could meet.
 */
function nearestUnmet({ list, records = [], where }: ConditionTrace): ConditionTrace | undefined {
  const nearest = records.find(({ answer }) => answer !== 'true');
  return nearest === undefined && list !== undefined ? where : nearest?.where;
}

/** Returns a sentence about a condition that is not met: `user.department is "politics", but the value is "sports"`. */
export function describeUnmet(trace: ConditionTrace, vocabulary: TraceVocabulary): string {
  const { operators, names, update } = vocabulary;
  const members = membersOf(trace);
  const describeMembers = (): string => members.map((member) => describeUnmet(member, vocabulary)).join('; ');
  switch (trace.type) {
    case 'comparison': {
      const { field = '', missing, actual } = trace;
      const { label, isComplete } = traceOperatorWords(trace, operators);
      const condition = `${field} ${label}${isComplete ? '' : ` ${printExpected(trace, names)}`}`;
      const found =
        missing === true
          ? (wordsOfRemoval(trace, update) ?? texts.noValue(field))
          : `${wordsBeforeValue(trace, update)} ${printValue(actual, names)}`;
      return [texts.unmet(condition, found), describeAncestors(trace, names) ?? []].flat().join(': ');
    }
    case 'any':
      return sentence`${texts.oneOf}: ${describeMembers()}`;
    case 'not':
      return texts.not(describeMembers());
    case 'related': {
      const nearest = nearestUnmet(trace);
      const described = describeRelatedTrace(trace, names);
      return nearest === undefined ? described : `${described}: ${describeUnmet(nearest, vocabulary)}`;
    }
    case 'expression':
      return trace.source ?? '';
    default:
      return describeMembers();
  }
}
