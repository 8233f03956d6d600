import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import {
  type Definitions,
  loadDefinitions,
  type Mistake,
  ordinaryResources,
  type ParsedDefinition,
  parseDefinition,
  placeMistake,
  type RawDefinition,
  type Resource,
  validateCascades,
  validateReferences,
} from '../index.ts';
import { DECISION_DEFINITIONS } from './audit-definition.ts';
import { POLICY_DEFINITIONS } from './policy-definitions.ts';
import { SERVICE_DEFINITIONS } from './service-definitions.ts';
import { readUser, USER } from './user-definition.ts';

/** A project's definitions together with the built-in ones, and everything that is wrong with them. */
export interface ComposedDefinitions {
  /** Without those that have mistakes of their own. */
  readonly definitions: Definitions;
  readonly mistakes: readonly Mistake[];
}

/** Loads and checks the definition files of a folder: every mistake of every file. */
export function loadProject(folder: string): ComposedDefinitions {
  const loaded = loadDefinitions(folder);
  const { definitions, mistakes } = composeDefinitions(loaded.definitions);
  return { definitions, mistakes: [...loaded.mistakes, ...mistakes].sort(byPlace) };
}

/** Checks a project's definitions, each by itself and all together, and joins them with the built-in ones. */
export function composeDefinitions(project: readonly RawDefinition[]): ComposedDefinitions {
  const definitions = new Map(SYSTEM);
  const mistakes: Mistake[] = [];
  const added: AddedDefinition[] = [];
  const taken = new Map<string, string>();
  for (const raw of project) {
    const { resource, mistakes: found } = readOne(raw.source);
    mistakes.push(...found.map((mistake) => placeMistake(raw, mistake)));
    const name = nameOf(raw.source);
    const clash = name === undefined ? undefined : describeClash(name, taken);
    if (clash !== undefined) mistakes.push(placeMistake(raw, { path: ['name'], on: 'value', detail: clash }));
    else if (name !== undefined) taken.set(name.toLowerCase(), `${name} in ${raw.file}`);
    if (resource === undefined || clash !== undefined) continue;
    definitions.set(resource.name, resource);
    added.push({ raw, resource });
  }
  const known = knownNames(project);
  for (const { raw, resource } of added) {
    const found = [...validateReferences(resource, known), ...validateCascades(resource, definitions)];
    mistakes.push(...found.map((mistake) => placeMistake(raw, mistake)));
  }
  mistakes.push(...checkRenames(added, new Set([...definitions.keys(), ...known])));
  return { definitions, mistakes };
}

function readOne(source: Json): ParsedDefinition {
  return isObject(source) && nameOf(source) === 'User' ? readUser(source) : parseDefinition(source);
}

// Tables differ by more than case in no database that we speak to.
function describeClash(name: string, taken: ReadonlyMap<string, string>): string | undefined {
  const other = taken.get(name.toLowerCase());
  if (other !== undefined) return `expected a name of its own, different by more than case, given ${JSON.stringify(name)} beside ${other}`;
  if (name !== 'User' && name.toLowerCase() === 'user') return `expected "User" to add to the built-in one, given ${JSON.stringify(name)}`;
  return undefined;
}

interface AddedDefinition {
  readonly raw: RawDefinition;
  readonly resource: Resource;
}

// Records can be taken over from a name that is free, and by one resource.
function checkRenames(added: readonly AddedDefinition[], known: ReadonlySet<string>): readonly Mistake[] {
  const claimed = new Set<string>();
  return added.flatMap(({ raw, resource: { renamedFrom } }) => {
    if (renamedFrom === undefined) return [];
    const again = claimed.has(renamedFrom);
    claimed.add(renamedFrom);
    if (!again && !known.has(renamedFrom)) return [];
    const detail = again
      ? `expected a name that one resource comes from, given ${JSON.stringify(renamedFrom)} again`
      : `expected a name that no resource has any more, given ${JSON.stringify(renamedFrom)}`;
    return [placeMistake(raw, { path: ['renamedFrom'], on: 'value', detail })];
  });
}

// A definition with mistakes counts too: a reference to it is right.
function knownNames(project: readonly RawDefinition[]): ReadonlySet<string> {
  const names = project.map(({ source }) => nameOf(source)).filter((name) => name !== undefined);
  const own = ordinaryResources(SYSTEM).map((resource) => resource.name);
  return new Set([...own, ...names]);
}

function nameOf(source: Json): string | undefined {
  const name = isObject(source) ? source['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function byPlace(a: Mistake, b: Mistake): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** The service's own resources by name: `User`, and the internal ones, whose names begin with `_`. */
export const SYSTEM: Definitions = new Map(
  [USER, ...POLICY_DEFINITIONS, ...DECISION_DEFINITIONS, ...SERVICE_DEFINITIONS].map(readOwn).map((resource) => [resource.name, resource]),
);

function readOwn(source: JsonObject): Resource {
  const { resource, mistakes } = parseDefinition(source, { builtIn: true });
  if (resource === undefined) {
    throw new Error(`${String(source['name'])}: ${mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('; ')}`);
  }
  return resource;
}
