/** The paths that conditions on a resource can read, from the catalogue. */
import type { Schemas } from '../../api/client.ts';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { referencedResource } from '../referenced-resource.ts';
import type { SuggestionGroup } from '../suggestions.ts';
import { GROUPS } from './condition-json.ts';

/** The definitions, operators and limits of the service. */
export type Catalogue = Schemas['admin.Catalogue'];
/** A resource of the project, or `User`. */
type Definition = Catalogue['definitions'][number];
/** A field of a definition. */
type Field = Schemas['api.FieldDescription'];
/** The kind that values are compared as. */
export type Kind = NonNullable<Catalogue['contexts']['user'][number]['kind']>;

/** A path that a condition can read. `kind` is undefined if values of every kind are possible. */
export interface PathOption {
  readonly path: string;
  readonly kind: Kind | undefined;
  readonly itemKind?: Kind | undefined;
  /** The resource that the value refers to: the value is the id of a record. */
  readonly to?: string | undefined;
  /** The resource with a hierarchy whose records the value identifies: it is the id of a record, or refers to one. */
  readonly hierarchy?: string | undefined;
  /** All values that are possible. */
  readonly values?: readonly (string | number)[] | undefined;
}

/** Returns the paths for a rule on the resource (`*` for all), in the order of their groups. Paths through references follow them. */
export function pathsFor(catalogue: Catalogue, resource: string): readonly PathOption[] {
  const { user, environment, request } = catalogue.contexts;
  const known = (options: readonly ContextPath[]): readonly PathOption[] =>
    options.flatMap((each) => {
      const option = withHierarchy(catalogue, { ...each, kind: each.kind }, each.path === 'user.id' ? 'User' : each.to);
      return [option, ...behind(catalogue, option)];
    });
  return [...known(user), ...resourcePaths(catalogue, resource), ...known(environment), ...requestPaths(catalogue, resource, request)];
}

type ContextPath = Catalogue['contexts']['user'][number];

/** Returns the description of a path; undefined for an unknown path. Below JSON and request data, every path is possible. */
export function findPath(options: readonly PathOption[], path: string): PathOption | undefined {
  const exact = options.find((option) => option.path === path);
  if (exact !== undefined) return exact;
  const parent = options.find((option) => path.startsWith(`${option.path}.`) && (option.kind === 'json' || option.kind === undefined));
  return parent === undefined ? undefined : { path, kind: undefined };
}

/** Returns the resource whose records the values of a path identify. */
export function targetOf(path: string, options: readonly PathOption[]): string | undefined {
  const option = findPath(options, path);
  return option?.hierarchy ?? option?.to;
}

/** Returns the paths of related records with an alias, those behind their references last. */
export function relatedPathsFor(catalogue: Catalogue, resource: string, alias: string): readonly PathOption[] {
  const own = optionsOf(catalogue, resource, alias);
  return [...own, ...own.flatMap((option) => behind(catalogue, option))];
}

/**
 * Returns the paths by their first name, for a menu: those of aliases, of the resource and of the other groups, then those through references, of
 * which there can be hundreds.
 */
export function groupPaths(options: readonly PathOption[]): readonly SuggestionGroup[] {
  const references = new Set(options.filter(({ to }) => to !== undefined).map(({ path }) => path));
  const isBehind = ({ path }: PathOption): boolean => references.has(path.slice(0, path.lastIndexOf('.')));
  const groupsOf = (members: readonly PathOption[]) =>
    [...Map.groupBy(members, ({ path }) => path.slice(0, path.indexOf('.')))].sort(byRank);
  return [
    ...groupsOf(options.filter((option) => !isBehind(option))).map(toSuggestions),
    ...groupsOf(options.filter(isBehind)).map(([group, members]) => toSuggestions([texts.behind(group), members])),
  ];
}

type PathGroup = readonly [name: string, members: readonly PathOption[]];

/** Orders the resource before the other groups, and aliases, which are no groups, before all. */
function byRank([first]: PathGroup, [second]: PathGroup): number {
  const ranks = ['resource', ...GROUPS];
  return ranks.indexOf(first) - ranks.indexOf(second);
}

function toSuggestions([group, members]: PathGroup): SuggestionGroup {
  return { group, items: members.map(({ path }) => path) };
}

function resourcePaths(catalogue: Catalogue, resource: string): readonly PathOption[] {
  const own = resource === '*' ? catalogue.definitions : catalogue.definitions.filter(({ name }) => name === resource);
  const described = resource === catalogue.auditLog.name ? [catalogue.auditLog] : own;
  const options = described.flatMap((definition) =>
    toOptions(catalogue, definition, 'resource').flatMap((option) => [option, ...behind(catalogue, option)]),
  );
  const byPath = Map.groupBy([{ path: 'resource.name', kind: 'text' } as const, ...options], ({ path }) => path);
  return [...byPath.values()].map(joinOptions);
}

/** Returns one option for fields of the same name, which can have different kinds on all resources. */
function joinOptions(options: readonly PathOption[]): PathOption {
  const last = options.at(-1) as PathOption;
  if (options.some(({ kind }) => kind !== last.kind)) return { path: last.path, kind: undefined };
  const hierarchies = new Set(options.flatMap(({ hierarchy }) => hierarchy ?? []));
  // A hierarchy that only some of the resources have counts, because the others have no rows to compare.
  return { ...last, hierarchy: hierarchies.size === 1 ? [...hierarchies][0] : undefined };
}

/** Number of paths behind one field after which no further reference is followed: definitions that reference each other have thousands. */
const MAX_BEHIND = 200;

/** Returns the paths through references and lists of references, the shortest first. */
function behind(catalogue: Catalogue, option: PathOption): readonly PathOption[] {
  const found: PathOption[] = [];
  const queue = [{ option, references: 1 }];
  for (const { option: from, references } of queue) {
    if (found.length >= MAX_BEHIND || references > catalogue.limits.references) break;
    const next = optionsOf(catalogue, from.to, from.path);
    found.push(...next);
    queue.push(...next.map((reached) => ({ option: reached, references: references + 1 })));
  }
  return found;
}

/** Returns the paths of the fields of a resource, after a prefix. */
function optionsOf(catalogue: Catalogue, resource: string | undefined, prefix: string): readonly PathOption[] {
  const definition = catalogue.definitions.find(({ name }) => name === resource);
  return definition === undefined ? [] : toOptions(catalogue, definition, prefix);
}

/** Returns the paths of the fields that conditions can read. */
function toOptions(catalogue: Catalogue, { name, fields }: Definition, prefix: string): readonly PathOption[] {
  return fields
    .filter(({ writeOnly }) => !writeOnly)
    .map((field) => {
      const option = toOption(catalogue, prefix, field);
      return withHierarchy(catalogue, option, field.name === 'id' ? name : option.to);
    });
}

/** Adds the hierarchy of the resource whose records the value identifies, if it has one. Lists identify several records. */
function withHierarchy({ definitions }: Catalogue, option: PathOption, resource: string | undefined): PathOption {
  const fields = definitions.find(({ name }) => name === resource)?.fields;
  const hasHierarchy = option.kind === 'text' && fields?.some(({ hierarchy }) => hierarchy === true) === true;
  return hasHierarchy ? { ...option, hierarchy: resource } : option;
}

function requestPaths(catalogue: Catalogue, resource: string, request: readonly ContextPath[]): readonly PathOption[] {
  const fields = catalogue.definitions.find(({ name }) => name === resource)?.fields ?? [];
  const data = fields.filter(({ writeOnly, readOnly }) => !writeOnly && !readOnly);
  // Values of a request are not converted yet, so their kinds are not known.
  return [
    ...request.map((option) => ({ ...option, kind: option.kind })),
    ...data.map(({ name }) => ({ path: `request.data.${name}`, kind: undefined })),
  ];
}

function toOption(catalogue: Catalogue, prefix: string, field: Field): PathOption {
  const kindOf = (type: string | undefined) => catalogue.fieldTypes.find(({ name }) => name === type)?.kind;
  const { name, type, of, values } = field;
  const target = referencedResource(field);
  return {
    path: `${prefix}.${name}`,
    kind: kindOf(type),
    ...(of !== undefined && { itemKind: kindOf(of.type) }),
    ...(target !== undefined && { to: target }),
    ...((values ?? of?.values) !== undefined && { values: values ?? of?.values }),
  };
}
