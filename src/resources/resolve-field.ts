import type { PathKind } from '../conditions/index.ts';
import { didYouMean, type Issue, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { OPERATORS, type Operator } from '../operators/index.ts';
import { quote, suggest } from './definition-names.ts';
import type { Resource } from './resource.ts';
import { typeOf } from './validate-shape.ts';

/** The purpose of a field name that a client sends. */
export type FieldUsage = 'filter' | 'sort' | 'show' | 'expand';

/**
 * Resolves a field name that a client sends. Unknown and secret names get the same error, so that a client cannot learn the names of secret
 * fields.
 *
 * @throws Problem REQUEST_FIELD
 */
export function resolveField(resource: Resource, name: string, usage: FieldUsage): Field {
  const found = findField(resource, name, usage);
  if ('field' in found) return found.field;
  throw new Problem('REQUEST_FIELD', found.issue.detail, { errors: [found.issue] });
}

/** Resolves a field name like `resolveField`, but returns the issue, for callers that list every mistake. */
export function findField(resource: Resource, name: string, usage: FieldUsage): { field: Field } | { issue: Issue } {
  const field = resource.fields.get(name);
  if (field !== undefined && isUsable(field, usage)) return { field };
  const path = name.slice(0, 64);
  if (field !== undefined && !field.writeOnly) {
    const expected = usage === 'expand' ? 'a reference to expand' : 'a field to sort by';
    return { issue: { path, code: 'field', detail: `expected ${expected}, given ${quote(name)}, which has the type ${field.type}` } };
  }
  const usable = [...resource.fields.values()].filter((other) => isUsable(other, usage)).map((other) => other.name);
  // For `expand`, suggests the references: `authorId` for `author`.
  const near = (given: string): string => (usage === 'expand' ? suggest(given, usable) : didYouMean(given, usable));
  return {
    issue: {
      path,
      code: 'field',
      detail: `${resource.name} has no field ${quote(name)} to ${usage}${usage === 'show' || usage === 'expand' ? '' : ' by'}${near(name)}`,
    },
  };
}

const WHOLE_NUMBER: PathKind = Object.freeze({ kind: 'number', whole: true });

/** Returns the kind of a field in conditions; undefined if it cannot be compared. */
export function fieldKind(field: Field): PathKind | undefined {
  const { kind, whole } = typeOf(field);
  if (kind === undefined || field.writeOnly) return undefined;
  if (field.of === undefined) return whole === true ? WHOLE_NUMBER : { kind };
  const item = typeOf(field.of);
  return { kind, itemKind: item.kind, ...(item.whole === true && { whole: true }) };
}

function isUsable(field: Field, usage: FieldUsage): boolean {
  const kind = fieldKind(field)?.kind;
  if (kind === undefined) return false;
  if (usage === 'expand') return (field.of ?? field).to !== undefined;
  return usage !== 'sort' || (kind !== 'list' && kind !== 'json');
}

/** Returns the operators that a filter on a field may use. A JSON field allows only presence operators, because SQL cannot evaluate the others. */
export function operatorsOf(field: Field): readonly Operator[] {
  const kind = fieldKind(field)?.kind;
  if (kind === undefined) return [];
  return [...OPERATORS.values()].filter(
    (operator) => operator.kinds.includes(kind) && (kind !== 'json' || operator.definedOnMissing === true),
  );
}

/** Renders the first of several issues and the number of the others. */
export function summarise(issues: readonly Issue[]): string {
  const [first, ...rest] = issues;
  if (first === undefined) return '';
  return rest.length === 0 ? `${first.path}: ${first.detail}` : `${first.path}: ${first.detail} (and ${rest.length} more)`;
}
