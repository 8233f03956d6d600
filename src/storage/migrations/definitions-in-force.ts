import { type Definitions, findCascadeConflict, type Resource } from '../../resources/index.ts';
import type { AppliedResource } from './applied-definitions.ts';
import type { TableRenames } from './table-renames.ts';

/** The definitions in force after a migration that refused some resources. */
export interface DefinitionsInForce {
  readonly definitions: Definitions;
  /** The resources that stay as applied because another resource was refused, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

/** The definitions as applied before, and the planned renames of tables. */
export interface StateBefore {
  readonly applied: ReadonlyMap<string, AppliedResource>;
  readonly renames?: TableRenames;
}

/**
 * Returns the definitions in force if some resources are refused. A refused resource keeps its applied definition, or is left out if it
 * has none. This can cause two kinds of conflict: a reference to a resource that is not in force, and a cascade between a resource with
 * soft deletes and one without. While a conflict exists, one more resource keeps its applied definition.
 */
export function resolveDefinitionsInForce(
  wanted: Definitions,
  { applied, renames = new Map() }: StateBefore,
  refused: ReadonlySet<string>,
): DefinitionsInForce {
  const nameBefore = new Map([...renames].map(([from, to]) => [to, from]));
  const definitions = new Map(wanted);
  const also = new Map<string, string>();
  const revert = (name: string): void => {
    definitions.delete(name);
    const before = applied.get(nameBefore.get(name) ?? name);
    if (before?.resource !== undefined && !before.archived) definitions.set(before.resource.name, before.resource);
  };
  const resolveDangling = ({ resource, to }: Dangling): void => {
    const before = applied.get(to);
    // At most once per resource, so that the loop below ends.
    const renamed = renames.get(to);
    if (renamed !== undefined && definitions.has(renamed) && !also.has(renamed)) {
      also.set(renamed, `${to} cannot be renamed to ${renamed}: ${resource.name} stays as it is and references it by its former name`);
      revert(renamed);
    } else if (!wanted.has(to) && !also.has(to) && before?.resource !== undefined && !before.archived) {
      definitions.set(to, before.resource);
      also.set(to, `${to} is no longer defined, but ${resource.name} stays as it is and references it`);
    } else {
      also.set(resource.name, `${resource.name} references ${to}, which is not in force`);
      if (definitions.get(resource.name) === applied.get(resource.name)?.resource) definitions.delete(resource.name);
      else revert(resource.name);
    }
  };
  const resolveOutlived = ({ resource, to }: Outlived): void => {
    const [stays, waits] = definitions.get(to.name) === wanted.get(to.name) ? [resource, to] : [to, resource];
    const why =
      waits === to
        ? `cannot turn softDelete off: ${stays.name}, which is deleted with it, stays as it is and has softDelete`
        : `cannot turn softDelete on: ${stays.name}, with which it is deleted, stays as it is and has no softDelete`;
    also.set(waits.name, `${waits.name} ${why}`);
    revert(waits.name);
  };
  for (const name of refused) revert(name);
  for (;;) {
    const dangling = findDangling(definitions);
    const pair = dangling === undefined ? findOutlived(definitions, wanted) : undefined;
    if (dangling !== undefined) resolveDangling(dangling);
    else if (pair !== undefined) resolveOutlived(pair);
    else return { definitions, refused: also };
  }
}

interface Dangling {
  readonly resource: Resource;
  readonly to: string;
}

interface Outlived {
  readonly resource: Resource;
  readonly to: Resource;
}

/** Returns two resources with a cascade conflict, of which at least one has its wanted definition. */
function findOutlived(definitions: Definitions, wanted: Definitions): Outlived | undefined {
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      const to = findCascadeConflict(definitions, resource, field);
      if (to !== undefined && (wanted.get(to.name) === to || wanted.get(resource.name) === resource)) return { resource, to };
    }
  }
  return undefined;
}

/** Returns a resource with a reference, and the referenced resource that is not in force; undefined if there is none. */
function findDangling(definitions: Definitions): Dangling | undefined {
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      const to = field.to ?? field.of?.to;
      if (to !== undefined && !definitions.has(to)) return { resource, to };
    }
  }
  return undefined;
}
