/** Conditions of a trace as words. */
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { isolate, sentence } from '../../texts/sentence.ts';
import { type OperatorWords, operatorWords } from '../condition/condition-sentences.ts';
import type { Operator } from '../condition/operand-forms.ts';

/** The evaluation of a condition. */
export type ConditionTrace = Schemas['admin.ConditionTrace'];

const texts = decisionsTexts.nearMiss;

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
    case 'expression':
      return trace.source ?? '';
    default:
      return describeMembers();
  }
}
