import type { RawBuilder } from 'kysely';
import type { Definitions, Resource } from '../../resource/index.ts';
import type { Applied } from './applied.ts';
import { type Draft, toStep } from './plan.ts';
import { planNewTable, planTable } from './plan-resource.ts';
import type { ActualTable, TableDialect } from './tables.ts';

/** Everything a plan is made of. */
export interface PlanParts {
  /** Definitions as they were last applied. */
  readonly applied: Applied;
  /** Tables as they are. */
  readonly actual: readonly ActualTable[];
  /** Definitions as they are to be. */
  readonly definitions: Definitions;
  readonly dialect: TableDialect;
  listItems(list: RawBuilder<unknown>): RawBuilder<unknown>;
}

/** Plans what tables have to do to follow definitions, one draft for each resource that asks for anything. Pure: rows are asked later. */
export function planEvolution(parts: PlanParts): readonly Draft[] {
  const drafts = [...parts.definitions.values()].map((resource) => planResource(parts, resource));
  for (const [name, { keptAside }] of parts.applied.resources) {
    if (!keptAside && !parts.definitions.has(name)) drafts.push(planAside(name));
  }
  return drafts.filter(({ steps, refusals }) => steps.length > 0 || refusals.length > 0);
}

function planResource({ applied, actual, dialect, listItems }: PlanParts, resource: Resource): Draft {
  const table = actual.find(({ name }) => name.toLowerCase() === resource.name.toLowerCase());
  if (table === undefined) return planNewTable(resource, dialect);
  if (table.name !== resource.name) {
    const reason = `${resource.name} differs only in case from ${table.name}, whose records are kept; call it ${table.name} again, or give it another name`;
    return { resource: resource.name, steps: [], refusals: [reason], obstacles: [] };
  }
  const before = applied.resources.get(resource.name);
  return planTable({
    resource,
    actual: table,
    applied: before?.resource,
    wasAside: before?.keptAside === true,
    keptFields: applied.fields.get(resource.name) ?? new Map(),
    dialect,
    exists: (name) => actual.some((each) => each.name === name),
    listItems,
  });
}

function planAside(name: string): Draft {
  const step = toStep(name, { kind: 'keepAside', reason: `${name} is no longer defined; its records are kept aside` });
  return { resource: name, steps: [step], refusals: [], obstacles: [] };
}
