/** Conditions of a trace as words. */
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolate, sentence } from '../../texts/sentence.ts';
import { type OperatorWords, operatorWords } from '../condition/condition-sentences.ts';
import type { Operator } from '../condition/operand-forms.ts';

/** The evaluation of a condition. */
export type ConditionTrace = Schemas['admin.ConditionTrace'];

const texts = decisionsTexts.nearMiss;
const relatedTexts = decisionsTexts.related;
const ancestorTexts = decisionsTexts.ancestors;

/** Names of users by id. */
export type UserNames = Readonly<Record<string, string>>;

/** The labels and names that the words of a condition contain, in addition to its trace. */
export interface TraceVocabulary {
  readonly operators: readonly Operator[];
  /** The users whose names are shown instead of their ids. */
  readonly users: UserNames;
}

/** Returns a value as text: texts in quotes, lists in brackets, ids of users as their names. */
export function printValue(value: unknown, users: UserNames = {}): string {
  if (value === undefined) return decisionsTexts.noValue;
  const name = typeof value === 'string' && Object.hasOwn(users, value) ? users[value] : undefined;
  if (name !== undefined) return isolate(name);
  return Array.isArray(value) ? `[${value.map((item) => printValue(item, users)).join(', ')}]` : isolate(JSON.stringify(value));
}

/** Returns the members of a group; none for a comparison. */
export function membersOf({ of }: ConditionTrace): readonly ConditionTrace[] {
  return of === undefined ? [] : Array.isArray(of) ? of : [of];
}

/** Returns the right side of a comparison: the reference as written, with its value. */
export function printExpected({ written, expected }: ConditionTrace, users: UserNames): string {
  return written === undefined ? printValue(expected, users) : `${written} (${printValue(expected, users)})`;
}

/** Returns the words of the operator of a comparison, as the builder of conditions shows them. */
export function traceOperatorWords({ operator = '', expected }: ConditionTrace, operators: readonly Operator[]): OperatorWords {
  return operatorWords({ operator, found: operators.find(({ name }) => name === operator), value: expected });
}

/** Returns the words of a condition on related records: `at least 1 Membership where userId is "u1": 0 of 2 meet the conditions`. */
export function describeRelated(trace: ConditionTrace, users: UserNames): string {
  const { resource = '', list, on = [], atLeast, atMost, counts } = trace;
  const links = on.map(({ field, expected, missing }) =>
    relatedTexts.link(field, missing === true ? undefined : printValue(expected, users)),
  );
  const words =
    list === undefined
      ? relatedTexts.condition({ resource, links: links.join(relatedTexts.and), atLeast, atMost })
      : relatedTexts.list(list, resource);
  if (counts === undefined) return words;
  return [words, relatedTexts.counts(counts.true, counts.true + counts.false + counts.unknown, counts.unknown)].join(': ');
}

/** Returns the words about the records that `within` has compared: `none of a, b is among them`; undefined for other conditions. */
export function describeAncestors({ ancestors }: ConditionTrace): string | undefined {
  if (ancestors === undefined) return undefined;
  const { ids, matched, end } = ancestors;
  if (matched !== undefined) return ancestorTexts.matched(matched);
  if (ids.length === 0) return undefined;
  return end === 'limit' ? ancestorTexts.limit(ids.length) : ancestorTexts[end](ids.join(', '));
}

/** Returns a sentence about a condition that is not met: `user.department is "politics", but the value is "sports"`. */
export function describeUnmet(trace: ConditionTrace, vocabulary: TraceVocabulary): string {
  const { operators, users } = vocabulary;
  const members = membersOf(trace);
  const describeMembers = (): string => members.map((member) => describeUnmet(member, vocabulary)).join('; ');
  switch (trace.type) {
    case 'comparison': {
      const { field = '', missing, actual } = trace;
      const { label, isComplete } = traceOperatorWords(trace, operators);
      const condition = `${field} ${label}${isComplete ? '' : ` ${printExpected(trace, users)}`}`;
      const unmet = missing === true ? texts.unmetWithoutValue(condition) : texts.unmet(condition, printValue(actual, users));
      return [unmet, describeAncestors(trace) ?? []].flat().join(': ');
    }
    case 'any':
      return sentence`${texts.oneOf}: ${describeMembers()}`;
    case 'not':
      return texts.not(describeMembers());
    case 'related': {
      const nearest = trace.list === undefined ? undefined : (trace.records?.[0]?.where ?? trace.where);
      const described = describeRelated(trace, users);
      return nearest === undefined ? described : `${described}: ${describeUnmet(nearest, vocabulary)}`;
    }
    case 'expression':
      return trace.source ?? '';
    default:
      return describeMembers();
  }
}
