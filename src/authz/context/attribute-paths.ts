import type { ConditionParserOptions, ContextGroup, FollowedList, Path, PathKind } from '../../conditions/index.ts';
import { didYouMean } from '../../errors.ts';
import type { Kind } from '../../operators/index.ts';
import {
  type Definitions,
  fieldThrough,
  followedName,
  kindAt,
  ordinaryResources,
  type Resource,
  suggestField,
  suggestResource,
} from '../../resources/index.ts';
import { relatedDomainOf } from './attribute-domains.ts';
import { IDENTITY_NAMES, REQUEST_KINDS } from './decision-scope.ts';
import { ENVIRONMENT_KINDS, toPathKind } from './environment.ts';

/** Description of a path by the definitions: the kind of its value, `any` if every kind is possible, or the reason why it never has a value. */
export type PathDescription = PathKind | 'any' | { readonly problem: string };

/** The definitions that describe paths, and the maximum number of references that a path may follow. */
interface Describing {
  readonly definitions: Definitions;
  readonly references: number;
}

/**
 * Returns a function that describes the paths in the conditions of a rule on the named resource, or on all (`*`).
 * A resource without a definition may have any field. For `*`, it is enough that one resource has the field. Paths may follow up to
 * `references` references; any number if absent.
 */
export function describePath(
  definitions: Definitions,
  resourceName: string,
  { references = Number.POSITIVE_INFINITY }: { readonly references?: number } = {},
): (path: Path) => PathDescription {
  const known: Describing = { definitions, references };
  const describeIn: Readonly<Record<ContextGroup, (path: Path) => PathDescription>> = {
    user: (path) => describeUser(known, path),
    resource: (path) =>
      resourceName === '*' ? describeEverywhere(known, path) : describeField(known, definitions.get(resourceName), path),
    environment: (path) => describeKnown(ENVIRONMENT_KINDS, path),
    request: (path) => describeRequest(definitions.get(resourceName), path),
  };
  return (path) => (path.group === 'related' ? 'any' : describeIn[path.group](path));
}

/** Options of `describeRelated`. */
interface RelatedOptions {
  readonly references?: number;
  /** The names of resources whose fields are not known. */
  readonly incomplete?: ReadonlySet<string> | undefined;
}

/**
 * Returns a function that describes the resource with a name: the kinds of its fields, or the reason why conditions cannot count its records;
 * undefined if its fields are not known. Conditions cannot count records of resources of the system, such as policies.
 */
export function describeRelated(
  definitions: Definitions,
  { references = Number.POSITIVE_INFINITY, incomplete }: RelatedOptions = {},
): NonNullable<ConditionParserOptions['describeRelated']> {
  return (name) => {
    if (incomplete?.has(name) === true) return undefined;
    const resource = ordinaryResources(definitions).find((each) => each.name === name);
    if (resource === undefined) return { problem: `there is no resource "${name.slice(0, 64)}"${suggestResource(definitions, name)}` };
    return {
      describe(keys, text) {
        // A related record has no "name" but its field.
        const isOwnField = keys.length === 1;
        return isOwnField
          ? describeOwn(definitions, resource, { text, keys })
          : describeField({ definitions, references }, resource, { group: 'resource', keys, text });
      },
      listsOf: (keys) => listsIn(definitions, resource, keys),
      domainOf: (keys) => relatedDomainOf(definitions, resource, keys),
    };
  };
}

/**
 * Returns a function that returns the lists of references that a path follows, in the conditions of a rule on the named resource, or on all (`*`). In
 * a rule on all resources, a path follows the same lists in each of them, or it has a problem.
 */
export function describeLists(definitions: Definitions, resourceName: string): (path: Path) => readonly FollowedList[] {
  return ({ group, keys }) => {
    if (keys.length === 1) return [];
    if (group === 'user') return listsIn(definitions, definitions.get('User'), keys);
    if (group !== 'resource') return [];
    return resourceName === '*' ? (listsEverywhere(definitions, keys)[0] ?? []) : listsIn(definitions, definitions.get(resourceName), keys);
  };
}

function listsIn(definitions: Definitions, resource: Resource | undefined, keys: readonly string[]): readonly FollowedList[] {
  return (resource && fieldThrough(definitions, resource, keys)?.lists) ?? [];
}

/**
 * Returns the different lists that a path follows in the resources in which it can be read. If it follows none in one of them, as through a single
 * reference or in JSON, it is read in this way everywhere, and is missing in the others.
 */
function listsEverywhere(definitions: Definitions, keys: readonly string[]): readonly (readonly FollowedList[])[] {
  const known: Describing = { definitions, references: Number.POSITIVE_INFINITY };
  const path: Path = { group: 'resource', keys, text: ['resource', ...keys].join('.') };
  const usable = ordinaryResources(definitions).filter(
    (resource) => resource.fields.has(keys[0] ?? '') && !isProblem(describeField(known, resource, path)),
  );
  const found = usable.map((resource) => listsIn(definitions, resource, keys));
  if (found.some((lists) => lists.length === 0)) return [];
  return [...new Map(found.map((lists) => [JSON.stringify(lists), lists])).values()];
}

/** Returns the names of the resources whose records never have a value at `path`. */
export function resourcesWithoutPath(definitions: Definitions, path: Path): readonly string[] {
  return ordinaryResources(definitions)
    .filter((resource) => isProblem(describeField({ definitions, references: Number.POSITIVE_INFINITY }, resource, path)))
    .map((resource) => resource.name);
}

function describeField(known: Describing, resource: Resource | undefined, path: Path): PathDescription {
  const { definitions, references } = known;
  if (resource === undefined) return 'any';
  if (path.keys.length === 1 && path.keys[0] === 'name' && !resource.fields.has('name')) return { kind: 'text' };
  let of = resource;
  for (const [index, name] of path.keys.entries()) {
    const field = of.fields.get(name);
    const to = field && !field.writeOnly ? followedName(field) : undefined;
    if (to === undefined || index === path.keys.length - 1)
      return describeOwn(definitions, of, { text: path.text, keys: path.keys.slice(index), isReached: index > 0 });
    if (index === references) return { problem: describeDepth(path, known) };
    const target = definitions.get(to);
    if (target === undefined) return 'any';
    of = target;
  }
  return 'any';
}

function describeDepth({ text }: Path, { references }: Describing): string {
  return `"${text}" follows more than ${references} references, the limit of conditionReferences`;
}

/** The end of a path, in the last record that it reaches. */
interface PathEnd extends Pick<Path, 'text' | 'keys'> {
  /** True if the path follows a reference to the record. */
  readonly isReached?: boolean;
}

/** Describes a field of `resource`, or a value inside the field if there are more keys. */
function describeOwn(definitions: Definitions, resource: Resource, { text, keys, isReached = false }: PathEnd): PathDescription {
  const [name = '', ...inner] = keys;
  const field = resource.fields.get(name);
  if (field === undefined) {
    return { problem: `resource ${resource.name} has no field "${name}"${suggestField(resource, name)}` };
  }
  if (field.writeOnly) return { problem: `field "${name}" of ${resource.name} is secret: conditions cannot read it` };
  const kind = kindAt(definitions, { field, of: resource, isReached });
  if (kind === undefined) return { problem: `field "${name}" of ${resource.name} cannot be compared` };
  if (inner.length === 0) return kind;
  return kind.kind === 'json'
    ? 'any'
    : { problem: `"${text}" reaches into field "${name}" of ${resource.name}, which is ${field.type}, neither json nor a reference` };
}

/**
 * Returns the kind of a field in the resources that have it; `any` if the kinds differ or no resource has the field; the problem if
 * conditions can read the field in no resource. A number is an integer only if it is one in every resource that has the field.
 */
function describeEverywhere(known: Describing, path: Path): PathDescription {
  const withField = ordinaryResources(known.definitions).filter((resource) => resource.fields.has(path.keys[0] ?? ''));
  const descriptions = withField.map((resource) => describeField(known, resource, path));
  const usable = descriptions.filter((description) => !isProblem(description));
  const [first] = usable;
  if (first === undefined) return descriptions[0] ?? 'any';
  if (path.keys.length > 1 && listsEverywhere(known.definitions, path.keys).length > 1) return { problem: describeLikeness(path) };
  if (!usable.every((other) => isSameKind(first, other))) return 'any';
  const kinds = usable.filter((description) => typeof description === 'object' && 'kind' in description);
  const kind = kinds.find(({ whole }) => whole === undefined) ?? first;
  return kind === 'any' || 'problem' in kind ? kind : { ...kind, hierarchy: hierarchyIn(kinds) };
}

function describeLikeness({ text }: Path): string {
  return `"${text}" follows lists of different references in different resources: name one resource in "resource" of the rule`;
}

/** Returns the hierarchy that all paths with one have in common; undefined if there are several. */
function hierarchyIn(kinds: readonly PathKind[]): PathKind['hierarchy'] {
  const [first, ...others] = kinds.flatMap(({ hierarchy }) => (hierarchy === undefined ? [] : [hierarchy]));
  return others.every(({ resource, parent }) => resource === first?.resource && parent === first.parent) ? first : undefined;
}

/** Describes a path of the user. A claim of a token may have any kind; a field has the kind of its definition. */
function describeUser(known: Describing, path: Path): PathDescription {
  const [name = ''] = path.keys;
  const user = known.definitions.get('User');
  if (user?.fields.has(name) === true) return describeField(known, user, path);
  return IDENTITY_NAMES.includes(name) ? describeKnown(new Map<string, Kind>([[name, 'text']]), path) : 'any';
}

function describeRequest(resource: Resource | undefined, path: Path): PathDescription {
  const [name, field] = path.keys;
  if (name !== 'data') return describeKnown(REQUEST_KINDS, path, ['data']);
  const secret = field !== undefined && resource?.fields.get(field)?.writeOnly === true;
  return secret ? { problem: `field "${field}" of ${resource.name} is secret: conditions cannot read it` } : 'any';
}

function describeKnown(kinds: ReadonlyMap<string, Kind>, { group, keys, text }: Path, others: readonly string[] = []): PathDescription {
  const [name = '', ...inner] = keys;
  const kind = kinds.get(name);
  if (kind === undefined) return { problem: `${group} has no "${name}"${didYouMean(name, [...kinds.keys(), ...others])}` };
  return inner.length === 0 ? toPathKind(kind) : { problem: `"${text}" reaches into ${group}.${name}, which is ${kind}` };
}

function isProblem(description: PathDescription): description is { readonly problem: string } {
  return description !== 'any' && 'problem' in description;
}

function isSameKind(a: PathDescription, b: PathDescription): boolean {
  if (a === 'any' || b === 'any') return a === b;
  return 'kind' in a && 'kind' in b && a.kind === b.kind && a.itemKind === b.itemKind;
}
