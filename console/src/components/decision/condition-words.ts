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

/** Returns a value as text: texts in quotes, lists in brackets. */
export function printValue(value: unknown): string {
  return value === undefined ? decisionsTexts.noValue : isolate(JSON.stringify(value));
}

/** Returns the members of a group; none for a comparison. */
export function membersOf({ of }: ConditionTrace): readonly ConditionTrace[] {
  return of === undefined ? [] : Array.isArray(of) ? of : [of];
}

/** Returns the right side of a comparison: the reference as written, with its value. */
export function printExpected({ written, expected }: ConditionTrace): string {
  return written === undefined ? printValue(expected) : `${written} (${printValue(expected)})`;
}

/** Returns the words of the operator of a comparison, as the builder of conditions shows them. */
export function traceOperatorWords({ operator = '', expected }: ConditionTrace, operators: readonly Operator[]): OperatorWords {
  return operatorWords({ operator, found: operators.find(({ name }) => name === operator), value: expected });
}

/** Returns the words of a condition on related records: `at least 1 Membership where userId is "u1": 0 of 2 meet the conditions`. */
export function describeRelated({ resource = '', on = [], atLeast, atMost, counts }: ConditionTrace): string {
  const links = on.map(({ field, expected, missing }) => relatedTexts.link(field, missing === true ? undefined : printValue(expected)));
  const words = relatedTexts.condition({ resource, links: links.join(relatedTexts.and), atLeast, atMost });
  if (counts === undefined) return words;
  return [words, relatedTexts.counts(counts.true, counts.true + counts.false + counts.unknown, counts.unknown)].join(': ');
}

/** Returns a sentence about a condition that is not met: `user.department is "politics", but the value is "sports"`. */
export function describeUnmet(trace: ConditionTrace, operators: readonly Operator[]): string {
  const members = membersOf(trace);
  const describeMembers = (): string => members.map((member) => describeUnmet(member, operators)).join('; ');
  switch (trace.type) {
    case 'comparison': {
      const { field = '', missing, actual } = trace;
      const { label, isComplete } = traceOperatorWords(trace, operators);
      const condition = `${field} ${label}${isComplete ? '' : ` ${printExpected(trace)}`}`;
      return missing === true ? texts.unmetWithoutValue(condition) : texts.unmet(condition, printValue(actual));
    }
    case 'any':
      return sentence`${texts.oneOf}: ${describeMembers()}`;
    case 'not':
      return texts.not(describeMembers());
    case 'related':
      return describeRelated(trace);
    case 'expression':
      return trace.source ?? '';
    default:
      return describeMembers();
  }
}
