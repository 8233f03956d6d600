/** Suggestions for the form of a condition on related records, from the definitions. */
import { AUTHOR_FIELDS } from '../referenced-resource.ts';
import type { Builder } from './builder-context.ts';
import type { RelatedForm } from './condition-json.ts';
import { type Catalogue, type PathOption, relatedPathsFor } from './condition-paths.ts';
import { toReference } from './operand-forms.ts';
import { isUsableAlias, usedAliases, withAlias } from './related-edits.ts';

/** The place of a condition on related records. */
export type RelatedPlace = Pick<Builder, 'catalogue' | 'options' | 'aliases' | 'resource'>;

/** Returns a short alias for the records of a resource that differs from the other aliases: `m` for `Membership`, `tm` for `TeamMember`. */
export function suggestAlias(resource: string, others: readonly string[]): string {
  const capitals = resource.replace(/[^A-Z]/g, '');
  const initials = (capitals === '' ? resource.replace(/[^A-Za-z]/g, '').slice(0, 1) : capitals.slice(0, 8)).toLowerCase() || 'r';
  for (let number = 1; ; number++) {
    const alias = number === 1 ? initials : `${initials}${number}`;
    if (isUsableAlias(alias, others)) return alias;
  }
}

/** Returns the fields by which the records of a resource can be linked. The path of a field is its name. */
export function linkFields(catalogue: Catalogue, resource: string): readonly PathOption[] {
  const linkable = catalogue.operators.find(({ name }) => name === 'eq')?.kinds ?? [];
  return relatedPathsFor(catalogue, resource, '')
    .map((option) => ({ ...option, path: option.path.slice(1) }))
    .filter(({ path, kind }) => !path.includes('.') && kind !== undefined && linkable.includes(kind));
}

/**
 * Returns the links that the definitions suggest: fields that refer to the user, to the record, or to the same resource as a field of the record
 * or of the enclosing related records.
 */
export function suggestLinks(resource: string, place: RelatedPlace): Readonly<Record<string, string>> {
  const links = linkFields(place.catalogue, resource).flatMap(({ path, to }): readonly (readonly [string, string])[] => {
    // Authors link records only if a rule says so.
    const value = to === undefined || AUTHOR_FIELDS.has(path) ? undefined : pathTo(to, place);
    return value === undefined ? [] : [[path, toReference(value)]];
  });
  return Object.fromEntries(links);
}

/** Returns a path with the id of a record of the resource. */
function pathTo(resource: string, place: RelatedPlace): string | undefined {
  if (resource === 'User') return 'user.id';
  if (resource === place.resource) return 'resource.id';
  // Fields of the enclosing related records come before those of the record of the request.
  const origins = [...place.aliases.toReversed(), 'resource'];
  return origins.flatMap((origin) =>
    place.options.filter(({ path, to, kind }) => to === resource && kind !== 'list' && isFieldOf(path, origin)),
  )[0]?.path;
}

function isFieldOf(path: string, origin: string): boolean {
  return path.startsWith(`${origin}.`) && !path.slice(origin.length + 1).includes('.');
}

/** Returns a new condition on related records: of the resource with the most suggested links. */
export function newRelated(place: RelatedPlace): unknown {
  const names = place.catalogue.definitions.map(({ name }) => name).filter((name) => name !== 'User' && name !== place.resource);
  const found = names.map((name) => ({ name, on: suggestLinks(name, place) }));
  const [best] = found.toSorted((one, other) => Object.keys(other.on).length - Object.keys(one.on).length);
  const { name, on } = best ?? { name: 'User', on: {} };
  return { related: { resource: name, as: suggestAlias(name, place.aliases), on } };
}

/**
 * Returns the condition for records of another resource. Links by fields that it does not have are removed, and replaced if none remains. A
 * suggested alias follows the resource.
 */
export function withResource(form: RelatedForm, resource: string, place: RelatedPlace): RelatedForm {
  const fields = new Set(linkFields(place.catalogue, resource).map(({ path }) => path));
  const kept = Object.entries(form.on).filter(([field]) => fields.has(field));
  const moved = { ...form, resource, on: kept.length > 0 ? Object.fromEntries(kept) : suggestLinks(resource, place) };
  const others = usedAliases(form, place.aliases);
  const isSuggested = form.as === '' || form.as === suggestAlias(form.resource, others);
  return isSuggested ? withAlias(moved, suggestAlias(resource, others)) : moved;
}
