import { type Issue, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { quote, validateFieldName } from './definition-names.ts';
import { summarise } from './parse-sort.ts';
import { findField } from './resolve-field.ts';
import type { Definitions, Resource } from './resource.ts';

/** Which parts of records a client asks for, as sent. */
export interface ProjectionNames {
  /** All where absent. */
  readonly fields?: readonly string[] | undefined;
  readonly expand?: readonly DefinedExpandItem[] | undefined;
}

/** Which parts of records are shown. */
export interface Projection {
  /** Beside the id; all where absent. */
  readonly fields?: ReadonlySet<string>;
  readonly expansions: readonly Expansion[];
}

/** Which parts of a resource's records a client asks for. Every name that cannot be used is listed in the problem. */
export function parseProjection(definitions: Definitions, resource: Resource, { fields, expand = [] }: ProjectionNames): Projection {
  const issues: Issue[] = [];
  for (const name of fields ?? []) {
    const found = findField(resource, name, 'show');
    if ('issue' in found) issues.push({ ...found.issue, path: `fields.${found.issue.path}` });
  }
  const expansions = parseExpand(definitions, resource, { items: expand, issues });
  if (issues.length > 0) throw new Problem('REQUEST_FIELD', summarise(issues), { errors: issues });
  return { ...(fields !== undefined && { fields: new Set(fields) }), expansions };
}

/** What to expand, as sent. */
export interface DefinedExpandItem {
  readonly name: string;
  /** Another resource's reference to this one, and how many records by it at most. */
  readonly by?: { readonly resource: string; readonly field: string; readonly limit: number } | undefined;
}

/** What stands under one name of a record's `expand`. */
export interface Expansion {
  readonly name: string;
  /** A reference and a list of them are the record's own; `referring` is what refers to it. */
  readonly kind: 'reference' | 'references' | 'referring';
  /** The reference: the record's own, or that of the records that refer to it. */
  readonly field: Field;
  /** Whose records are shown. */
  readonly of: Resource;
  /** How many for each record; of `referring` alone. */
  readonly limit: number;
}

/** What a client asks to be expanded, item by item: each resolved, or noted as a mistake. */
export function parseExpand(
  definitions: Definitions,
  resource: Resource,
  { items, issues }: { readonly items: readonly DefinedExpandItem[]; readonly issues: Issue[] },
): readonly Expansion[] {
  return items.flatMap((item) => {
    const read = item.by === undefined ? readOwn(definitions, resource, item.name) : readReferring(definitions, resource, item);
    if (!('issue' in read)) return [read];
    issues.push({ ...read.issue, path: `expand.${item.name.slice(0, 64)}` });
    return [];
  });
}

type Read = Expansion | { readonly issue: Issue };

function readOwn(definitions: Definitions, resource: Resource, name: string): Read {
  const found = findField(resource, name, 'expand');
  if ('issue' in found) return found;
  const { field } = found;
  const of = shownResource(definitions, (field.of ?? field).to ?? '');
  if (of === undefined) throw new Error(`${resource.name}.${name} refers to a resource without a definition`);
  return { name, kind: field.of === undefined ? 'reference' : 'references', field, of, limit: 1 };
}

/** Gives the same answer for a resource or field that does not exist and for one that refers elsewhere: policies may hide it from the caller. */
function readReferring(definitions: Definitions, resource: Resource, { name, by }: DefinedExpandItem): Read {
  const { resource: otherName = '', field: fieldName = '', limit = 0 } = by ?? {};
  const refuse = (detail: string): Read => ({ issue: { path: '', code: 'field', detail } });
  const wrong = validateFieldName(name);
  if (wrong !== undefined) return refuse(wrong);
  const of = shownResource(definitions, otherName);
  const field = of?.fields.get(fieldName);
  if (of !== undefined && field?.to === resource.name && !field.writeOnly) return { name, kind: 'referring', field, of, limit };
  return refuse(`no field ${quote(fieldName)} of a resource ${quote(otherName)} refers to one ${resource.name}`);
}

function shownResource(definitions: Definitions, name: string): Resource | undefined {
  const resource = definitions.get(name);
  return resource?.internal === false ? resource : undefined;
}
