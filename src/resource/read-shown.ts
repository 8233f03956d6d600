import { type Issue, Problem } from '../errors.ts';
import { type ExpandItem, type Expansion, readExpand } from './read-expand.ts';
import { findField } from './resolve-field.ts';
import type { Definitions, Resource } from './resource.ts';
import { summarise } from './sort.ts';

/** Which parts of records a client asks for, as sent. */
export interface ShownNames {
  /** All where absent. */
  readonly fields?: readonly string[] | undefined;
  readonly expand?: readonly ExpandItem[] | undefined;
}

/** Which parts of records are shown. */
export interface Shown {
  /** Beside the id; all where absent. */
  readonly fields?: ReadonlySet<string>;
  readonly expansions: readonly Expansion[];
}

/** Which parts of a resource's records a client asks for. Every name that cannot be used is listed in the problem. */
export function readShown(definitions: Definitions, resource: Resource, { fields, expand = [] }: ShownNames): Shown {
  const issues: Issue[] = [];
  for (const name of fields ?? []) {
    const found = findField(resource, name, 'show');
    if ('issue' in found) issues.push({ ...found.issue, path: `fields.${found.issue.path}` });
  }
  const expansions = readExpand(definitions, resource, { items: expand, issues });
  if (issues.length > 0) throw new Problem('REQUEST_FIELD', summarise(issues), { errors: issues });
  return { ...(fields !== undefined && { fields: new Set(fields) }), expansions };
}
