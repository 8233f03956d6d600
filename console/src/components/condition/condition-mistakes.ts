/** The mistakes that the service has found in conditions, by the members that show them. */
import type { Issue } from '../../api/problem.ts';
import type { CodeMistake } from '../code/code-editor-props.ts';
import type { ConditionForm } from './condition-json.ts';

/** Returns the mistakes of a member and of its own members, as one text; undefined if there are none. */
export function mistakesAt(issues: readonly Issue[], at: string): string | undefined {
  const own = issues.filter(({ path }) => path === at || path.startsWith(`${at}.`));
  return own.length === 0 ? undefined : own.map(({ detail }) => detail).join('; ');
}

/** Returns the mistakes of exactly this member. */
export function mistakesOf(issues: readonly Issue[], at: string): string | undefined {
  const own = issues.filter(({ path }) => path === at);
  return own.length === 0 ? undefined : own.map(({ detail }) => detail).join('; ');
}

/** Returns the mistakes of a member itself, and of its own members that have no field in the form. */
export function otherMistakesAt(issues: readonly Issue[], at: string, known: readonly string[]): string | undefined {
  const others = issues.filter(({ path }) => {
    if (path === at) return true;
    const [name = ''] = path.startsWith(`${at}.`) ? path.slice(at.length + 1).split('.') : [];
    return name !== '' && !known.includes(name);
  });
  return others.length === 0 ? undefined : others.map(({ detail }) => detail).join('; ');
}

/** The members of a condition that have a field in its form, which shows their mistakes. JSON without a form has none. */
const WITH_FIELDS: Readonly<Record<ConditionForm['type'], readonly string[]>> = {
  comparison: ['field', 'context', 'operator', 'value'],
  allOf: ['allOf'],
  anyOf: ['anyOf'],
  not: ['not'],
  related: ['related'],
  expression: ['expression'],
  raw: [],
};

/** Returns the mistakes of a condition that no field of its form shows. */
export function mistakesOfForm(issues: readonly Issue[], at: string, { type }: Pick<ConditionForm, 'type'>): string | undefined {
  return otherMistakesAt(issues, at, WITH_FIELDS[type]);
}

/** Returns the mistakes of an expression as marks in its text. Mistakes of the whole expression have none. */
export function marksIn(issues: readonly Issue[], at: string): readonly CodeMistake[] {
  return issues.flatMap(({ path, detail, range }) =>
    path === at && range !== undefined ? [{ from: range.start, to: range.end, message: detail, severity: 'error' as const }] : [],
  );
}
