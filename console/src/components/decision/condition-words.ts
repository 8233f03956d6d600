/** Conditions of a trace as words. */
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';

/** The evaluation of a condition. */
export type ConditionTrace = Schemas['admin.ConditionTrace'];

const texts = decisionsTexts.nearMiss;

/** Returns a value as text: texts in quotes, lists in brackets. */
export function printValue(value: unknown): string {
  return value === undefined ? decisionsTexts.noValue : JSON.stringify(value);
}

/** Returns the members of a group; none for a comparison. */
export function membersOf({ of }: ConditionTrace): readonly ConditionTrace[] {
  return of === undefined ? [] : Array.isArray(of) ? of : [of];
}

/** Returns the right side of a comparison: the reference as written, with its value. */
export function printExpected({ written, expected }: ConditionTrace): string {
  return written === undefined ? printValue(expected) : `${written} = ${printValue(expected)}`;
}

/** Returns a sentence about a condition that is not met: `user.department is "sports", the rule wants eq "politics"`. */
export function describeUnmet(trace: ConditionTrace): string {
  const members = membersOf(trace);
  switch (trace.type) {
    case 'comparison': {
      const { field = '', operator = '', missing, actual } = trace;
      if (missing === true) return texts.wantsMissing(field, operator, printExpected(trace));
      return texts.wants(field, printValue(actual), `${operator} ${printExpected(trace)}`);
    }
    case 'any':
      return `${texts.oneOf}: ${members.map(describeUnmet).join('; ')}`;
    case 'not':
      return texts.not(members.map(describeUnmet).join('; '));
    case 'expression':
      return trace.source ?? '';
    default:
      return members.map(describeUnmet).join('; ');
  }
}
