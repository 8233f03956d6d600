import { type Definitions, findCascadeConflict, type Resource } from '../../resources/index.ts';
import type { AppliedResource } from './applied-definitions.ts';
import type { TableRenames } from './table-renames.ts';

/** Which definitions are in force when some are refused. */
export interface DefinitionsInForce {
  readonly definitions: Definitions;
  /** Refused too, because of what was refused: resource → why. */
  readonly refused: ReadonlyMap<string, string>;
}

/** What was applied, and which tables are to have another name. */
export interface StateBefore {
  readonly applied: ReadonlyMap<string, AppliedResource>;
  readonly renames?: TableRenames;
}

/**
 * A refused resource stays as it was applied, or stays out where it never was. That may leave a reference without the
 * resource it points to: then what it points to stays as it was, too, or else whoever refers to it does. And it may leave
 * records to be kept when what they go with is gone for good: then the other of the two stays as it was, too.
 */
export function resolveDefinitionsInForce(
  wanted: Definitions,
  { applied, renames = new Map() }: StateBefore,
  refused: ReadonlySet<string>,
): DefinitionsInForce {
  const nameBefore = new Map([...renames].map(([from, to]) => [to, from]));
  const definitions = new Map(wanted);
  const also = new Map<string, string>();
  const fallBack = (name: string): void => {
    definitions.delete(name);
    const before = applied.get(nameBefore.get(name) ?? name);
    if (before?.resource !== undefined && !before.keptAside) definitions.set(before.resource.name, before.resource);
  };
  const settleDangling = ({ resource, to }: Dangling): void => {
    const before = applied.get(to);
    // Taken out of the definitions, and still referred to by what has to stay as it was. Once at most, or this would not end.
    const renamed = renames.get(to);
    if (renamed !== undefined && definitions.has(renamed) && !also.has(renamed)) {
      also.set(renamed, `${to} is to be called ${renamed}, and ${resource.name}, which stays as it was, refers to it by its name before`);
      fallBack(renamed);
    } else if (!wanted.has(to) && !also.has(to) && before?.resource !== undefined && !before.keptAside) {
      definitions.set(to, before.resource);
      also.set(to, `${to} is no longer defined, and ${resource.name}, which stays as it was, refers to it`);
    } else {
      also.set(resource.name, `${resource.name} refers to ${to}, which is not in force`);
      if (definitions.get(resource.name) === applied.get(resource.name)?.resource) definitions.delete(resource.name);
      else fallBack(resource.name);
    }
  };
  const settleOutlived = ({ resource, to }: Outlived): void => {
    const [stays, waits] = definitions.get(to.name) === wanted.get(to.name) ? [resource, to] : [to, resource];
    const why =
      waits === to
        ? `would no longer keep deleted records, and ${stays.name}, whose records go with them, stays as it was and does`
        : `would keep deleted records, and ${stays.name}, with whose records its own go, stays as it was and keeps none`;
    also.set(waits.name, `${waits.name} ${why}`);
    fallBack(waits.name);
  };
  for (const name of refused) fallBack(name);
  for (;;) {
    const dangling = findDangling(definitions);
    const pair = dangling === undefined ? findOutlived(definitions, wanted) : undefined;
    if (dangling !== undefined) settleDangling(dangling);
    else if (pair !== undefined) settleOutlived(pair);
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

/** Wanted together, two never stand so: where they do, one is as it was, and the other, as wanted, has to wait for it. */
function findOutlived(definitions: Definitions, wanted: Definitions): Outlived | undefined {
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      const to = findCascadeConflict(definitions, resource, field);
      if (to !== undefined && (wanted.get(to.name) === to || wanted.get(resource.name) === resource)) return { resource, to };
    }
  }
  return undefined;
}

/** A resource with a reference to one that is not there. */
function findDangling(definitions: Definitions): Dangling | undefined {
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      const to = field.to ?? field.of?.to;
      if (to !== undefined && !definitions.has(to)) return { resource, to };
    }
  }
  return undefined;
}
