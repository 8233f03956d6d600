/**
 * The projection of a response: which fields are shown and which references are expanded. `parseProjection` reads its shape,
 * before any definition is known; `resolveProjection` looks up the names in the definitions in force.
 */
import { type Issue, type IssueCode, Problem } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { type Definitions, findField, quote, type Resource, summarise, validateFieldName } from '../resources/index.ts';
import type { ExpandItem } from './api-request.ts';
import { MAX_EXPANDED, MAX_FIELDS } from './record-schemas.ts';

/** The members of a request that choose the projection; a query and a body share the names. */
export interface ProjectionMembers {
  readonly fields?: Json | undefined;
  readonly expand?: Json | undefined;
}

/** The projection of a request, as sent. */
export interface ProjectionPart {
  readonly fields?: readonly string[] | undefined;
  readonly expand?: readonly ExpandItem[] | undefined;
}

const DEFAULT_REFERENCING = 20;
const MAX_REFERENCING = 100;

/** Matches `authorId` or `comments:Comment.articleId(20)`. Expansions have one level, so a path such as `authorId.teamId` does not match. */
const EXPAND = /^([^\s,:.()]+)(?::([^\s,:.()]+)\.([^\s,:.()]+)(?:\(([1-9]\d{0,8})\))?)?$/;

/** Parses the projection of a request and adds every mistake to `issues`. */
export function parseProjection(given: ProjectionMembers, issues: Issue[]): ProjectionPart {
  return { fields: parseFieldNames(given.fields, issues), expand: parseExpand(given.expand, issues) };
}

/** Parses field names: `title,status`; in a body also `["title", "status"]`. */
function parseFieldNames(given: Json | undefined, issues: Issue[]): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const parts = toParts(given);
  const names = parts.filter((part) => typeof part === 'string' && part !== '' && part === part.trim()) as readonly string[];
  if (names.length < parts.length)
    issues.push({ path: 'fields', code: 'type', detail: 'expected field names separated by commas, such as title,status' });
  validateNames('fields', names, { max: MAX_FIELDS, issues });
  return names;
}

/** Parses items to expand: `authorId,comments:Comment.articleId(20)`; in a body also a list of such items. */
function parseExpand(given: Json | undefined, issues: Issue[]): readonly ExpandItem[] | undefined {
  if (given === undefined) return undefined;
  const items: ExpandItem[] = [];
  const refuse = (code: IssueCode, detail: string): unknown => issues.push({ path: 'expand', code, detail });
  for (const part of toParts(given).slice(0, MAX_EXPANDED + 1)) {
    const item = typeof part === 'string' ? toExpandItem(part) : undefined;
    if (item !== undefined) items.push(item);
    else
      refuse(
        'type',
        `expected references such as authorId, or comments:Comment.articleId(20) for referencing records, given ${describeValue(part)}`,
      );
    if (item?.by !== undefined && item.by.limit > MAX_REFERENCING)
      refuse('range', `expected at most ${MAX_REFERENCING} records under ${describeValue(item.name)}, given ${item.by.limit}`);
  }
  const names = items.map(({ name }) => name);
  validateNames('expand', names, { max: MAX_EXPANDED, issues });
  return items;
}

function toExpandItem(part: string): ExpandItem | undefined {
  const [, name, resource, field, limit] = EXPAND.exec(part) ?? [];
  if (name === undefined) return undefined;
  if (resource === undefined || field === undefined) return { name };
  return { name, by: { resource, field, limit: limit === undefined ? DEFAULT_REFERENCING : Number(limit) } };
}

function toParts(given: Json): readonly Json[] {
  if (typeof given === 'string') return given.split(',');
  return Array.isArray(given) && given.length > 0 ? given : [given];
}

function validateNames(member: string, names: readonly string[], { max, issues }: { max: number; issues: Issue[] }): void {
  if (names.length > max) issues.push({ path: member, code: 'tooMany', detail: `expected at most ${max} names, more were given` });
  const seen = new Set<string>();
  const duplicate = names.find((name) => seen.size === seen.add(name).size);
  if (duplicate !== undefined)
    issues.push({ path: member, code: 'duplicate', detail: `expected each name once, ${describeValue(duplicate)} was given twice` });
}

/** The projection of records in a response. */
export interface Projection {
  /** Names of the fields to show; all fields if absent. The response always includes the id. */
  readonly fields?: ReadonlySet<string>;
  readonly expansions: readonly Expansion[];
}

/** Resolves field names and expansions. @throws Problem REQUEST_FIELD that lists every name that cannot be used. */
export function resolveProjection(definitions: Definitions, resource: Resource, { fields, expand = [] }: ProjectionPart): Projection {
  const issues: Issue[] = [];
  for (const name of fields ?? []) {
    const found = findField(resource, name, 'show');
    if ('issue' in found) issues.push({ ...found.issue, path: `fields.${found.issue.path}` });
  }
  const expansions = resolveExpand(definitions, resource, { items: expand, issues });
  if (issues.length > 0) throw new Problem('REQUEST_FIELD', summarise(issues), { errors: issues });
  return { ...(fields !== undefined && { fields: new Set(fields) }), expansions };
}

/** One name of a record's `expand`. */
export interface Expansion {
  readonly name: string;
  /** `reference` and `references` are fields of the record; `referencing` are records that reference it. */
  readonly kind: 'reference' | 'references' | 'referencing';
  /** The reference: a field of the record; for `referencing`, a field of the records that reference it. */
  readonly field: Field;
  /** The resource of the expanded records. */
  readonly of: Resource;
  /** Maximum number of referencing records. Only `referencing` uses this limit. */
  readonly limit: number;
}

/** Returns the expansions of the items. Adds an issue for each item that cannot be expanded. */
function resolveExpand(
  definitions: Definitions,
  resource: Resource,
  { items, issues }: { readonly items: readonly ExpandItem[]; readonly issues: Issue[] },
): readonly Expansion[] {
  return items.flatMap((item) => {
    const resolved =
      item.by === undefined ? resolveReference(definitions, resource, item.name) : resolveReferencing(definitions, resource, item);
    if (!('issue' in resolved)) return [resolved];
    issues.push({ ...resolved.issue, path: `expand.${item.name.slice(0, 64)}` });
    return [];
  });
}

type Resolved = Expansion | { readonly issue: Issue };

function resolveReference(definitions: Definitions, resource: Resource, name: string): Resolved {
  const found = findField(resource, name, 'expand');
  if ('issue' in found) return found;
  const { field } = found;
  const of = visibleResource(definitions, (field.of ?? field).to ?? '');
  if (of === undefined) throw new Error(`${resource.name}.${name} refers to a resource without a definition`);
  return { name, kind: field.of === undefined ? 'reference' : 'references', field, of, limit: 1 };
}

/** Resolves an item with `by`. A resource or field that does not exist and a field that references another resource get the same issue, because policies may hide them. */
function resolveReferencing(definitions: Definitions, resource: Resource, { name, by }: ExpandItem): Resolved {
  const { resource: otherName = '', field: fieldName = '', limit = 0 } = by ?? {};
  const refuse = (detail: string): Resolved => ({ issue: { path: '', code: 'field', detail } });
  const wrong = validateFieldName(name);
  if (wrong !== undefined) return refuse(wrong);
  const of = visibleResource(definitions, otherName);
  const field = of?.fields.get(fieldName);
  if (of !== undefined && field?.to === resource.name && !field.writeOnly) return { name, kind: 'referencing', field, of, limit };
  return refuse(`no field ${quote(fieldName)} of a resource ${quote(otherName)} refers to one ${resource.name}`);
}

function visibleResource(definitions: Definitions, name: string): Resource | undefined {
  const resource = definitions.get(name);
  return resource?.internal === false ? resource : undefined;
}
