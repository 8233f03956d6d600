/** Edits of a condition on related records: its alias with all paths that use it, its links, and the number of records. */
import { GROUPS, type RelatedForm, readCondition, writeCondition } from './condition-json.ts';

const ALIAS = /^[a-z][A-Za-z0-9_]{0,31}$/;
/** Names that have another meaning at the beginning of a path. */
const RESERVED: readonly string[] = [...GROUPS, 'related', 'constructor'];

/** Returns true if a name can be the alias of related records, and differs from the other aliases. */
export function isUsableAlias(name: string, others: readonly string[]): boolean {
  return ALIAS.test(name) && !RESERVED.includes(name) && !others.includes(name);
}

/** Returns the aliases that a condition cannot take: those of the conditions that enclose it, and of those that it contains. */
export function usedAliases({ where = [] }: RelatedForm, around: readonly string[]): readonly string[] {
  return [...around, ...where.flatMap(aliasesIn)];
}

function aliasesIn(json: unknown): readonly string[] {
  const form = readCondition(json);
  switch (form.type) {
    case 'allOf':
    case 'anyOf':
      return form.of.flatMap(aliasesIn);
    case 'not':
      return aliasesIn(form.of);
    case 'related':
      return [form.as, ...(form.where ?? []).flatMap(aliasesIn)];
    default:
      return [];
  }
}

/** Returns the condition with another alias, which the paths in `where` follow. Expressions stay as they are. */
export function withAlias(form: RelatedForm, as: string): RelatedForm {
  const { as: former, where } = form;
  // Paths that begin with a reserved name are not those of the alias.
  if (where === undefined || former === '' || RESERVED.includes(former)) return { ...form, as };
  return { ...form, as, where: where.map((condition) => renameIn(condition, former, as)) };
}

function renameIn(json: unknown, from: string, to: string): unknown {
  const form = readCondition(json);
  switch (form.type) {
    case 'allOf':
    case 'anyOf':
      return writeCondition({ ...form, of: form.of.map((member) => renameIn(member, from, to)) });
    case 'not':
      return writeCondition({ ...form, of: renameIn(form.of, from, to) });
    case 'comparison':
      return writeCondition({ ...form, path: renamePath(form.path, from, to), value: renameInValue(form.value, from, to) });
    case 'related': {
      const on = Object.fromEntries(Object.entries(form.on).map(([field, value]) => [field, renameInValue(value, from, to)]));
      return writeCondition({ ...form, on, where: form.where?.map((member) => renameIn(member, from, to)) });
    }
    default:
      return json;
  }
}

/** Renames the alias in `${path}`, also within a text or a list. */
function renameInValue(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renameInValue(item, from, to));
  return typeof value === 'string' ? value.replaceAll(`\${${from}.`, () => `\${${to}.`) : value;
}

function renamePath(path: string, from: string, to: string): string {
  return path.startsWith(`${from}.`) ? `${to}${path.slice(from.length)}` : path;
}

/** Returns the condition with a link by another field, at the same place. */
export function renameLink(form: RelatedForm, from: string, to: string): RelatedForm {
  return { ...form, on: Object.fromEntries(Object.entries(form.on).map(([field, value]) => [field === from ? to : field, value])) };
}

/** Returns the condition without a link. */
export function removeLink(form: RelatedForm, field: string): RelatedForm {
  return { ...form, on: Object.fromEntries(Object.entries(form.on).filter(([name]) => name !== field)) };
}

/** The bounds that the form offers, by what they require. */
export const COUNT_KINDS = ['some', 'none', 'atLeast', 'atMost', 'between'] as const;

/** A choice of bounds. */
export type CountKind = (typeof COUNT_KINDS)[number];

/** Returns the choice that a condition has made. */
export function countKind({ atLeast, atMost }: Pick<RelatedForm, 'atLeast' | 'atMost'>): CountKind {
  if (atLeast !== undefined) return atMost === undefined ? 'atLeast' : 'between';
  if (atMost === undefined) return 'some';
  return atMost === 0 ? 'none' : 'atMost';
}

/** Returns the condition with another choice. Present bounds are kept where the choice has them. */
export function withCountKind(form: RelatedForm, kind: CountKind): RelatedForm {
  const { atLeast = 1, atMost = 0 } = form;
  const most = Math.max(1, atMost === 0 ? atLeast : atMost);
  const bounds = {
    some: { atLeast: undefined, atMost: undefined },
    none: { atLeast: undefined, atMost: 0 },
    atLeast: { atLeast, atMost: undefined },
    atMost: { atLeast: undefined, atMost: most },
    between: { atLeast: Math.min(atLeast, most), atMost: most },
  } as const;
  return { ...form, ...bounds[kind] };
}
