import { isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import {
  type DefinitionMistake,
  type Definitions,
  findUnknownReferences,
  loadYamlFiles,
  type Mistake,
  ordinaryResources,
  type ParsedDefinition,
  parseDefinition,
  placeMistake,
  type Resource,
  sortMistakes,
  validateCascades,
  type YamlFile,
} from '../index.ts';
import { DECISION_DEFINITIONS } from './audit-definition.ts';
import { POLICY_DEFINITIONS } from './policy-definitions.ts';
import { SERVICE_DEFINITIONS } from './service-definitions.ts';
import { parseUserDefinition, USER } from './user-definition.ts';

/** The definitions of a project and of the system, with all mistakes. */
export interface ComposedDefinitions {
  /** Definitions with mistakes of their own are left out. */
  readonly definitions: Definitions;
  readonly mistakes: readonly Mistake[];
  /** The names of the resources whose definitions have mistakes of their own, or refer to unknown resources. */
  readonly incomplete: ReadonlySet<string>;
}

/** Loads and validates the definition files of a folder. Returns every mistake of every file. */
export function loadProject(folder: string): ComposedDefinitions {
  const loaded = loadYamlFiles(folder, { kind: 'definition', refusesSubfolders: true });
  const composed = composeDefinitions(
    loaded.files,
    loaded.mistakes.map(({ file }) => file),
  );
  return { ...composed, mistakes: sortMistakes([...loaded.mistakes, ...composed.mistakes]) };
}

/**
 * Validates the definitions of a project, each by itself and all together, and adds those of the system. `unreadable` are files that are not YAML.
 */
export function composeDefinitions(project: readonly YamlFile[], unreadable: readonly string[] = []): ComposedDefinitions {
  const definitions = new Map(SYSTEM);
  const mistakes: Mistake[] = [];
  const added: AddedDefinition[] = [];
  const taken = new Map<string, string>();
  const known = knownNames(project, unreadable);
  const names = { known, renamed: renamedResources(project) };
  const incomplete = new Set([...project.map(toName), ...unreadable.map(baseNameOf)]);
  for (const raw of project) {
    const { resource, mistakes: found } = parseProjectDefinition(raw.source);
    const unknown = findUnknownReferences(raw.source, names).filter((mistake) => !found.some((other) => isSamePath(mistake, other)));
    mistakes.push(...[...found, ...unknown].map((mistake) => placeMistake(raw, mistake)));
    const name = nameOf(raw.source);
    const clash = name === undefined ? undefined : describeClash(name, taken);
    if (clash !== undefined) mistakes.push(placeMistake(raw, { path: ['name'], on: 'value', detail: clash }));
    else if (name !== undefined) taken.set(name.toLowerCase(), `${name} in ${raw.file}`);
    if (resource === undefined || clash !== undefined) continue;
    definitions.set(resource.name, resource);
    added.push({ raw, resource });
    if (unknown.length === 0) incomplete.delete(resource.name);
  }
  for (const { raw, resource } of added)
    mistakes.push(...validateCascades(resource, definitions).map((mistake) => placeMistake(raw, mistake)));
  mistakes.push(...validateRenames(added, new Set([...definitions.keys(), ...known])));
  return { definitions, mistakes, incomplete };
}

function isSamePath(a: DefinitionMistake, b: DefinitionMistake): boolean {
  return a.path.join('.') === b.path.join('.');
}

/** Returns the new names of resources by their former names. */
function renamedResources(project: readonly YamlFile[]): ReadonlyMap<string, string> {
  const pairs = project.flatMap(({ source }) => {
    const from = isObject(source) ? ownValue(source, 'renamedFrom') : undefined;
    const name = nameOf(source);
    return typeof from === 'string' && name !== undefined ? [[from, name] as const] : [];
  });
  return new Map(pairs);
}

function parseProjectDefinition(source: Json): ParsedDefinition {
  return isObject(source) && nameOf(source) === 'User' ? parseUserDefinition(source) : parseDefinition(source);
}

// SQLite does not distinguish table names by case.
function describeClash(name: string, taken: ReadonlyMap<string, string>): string | undefined {
  const other = taken.get(name.toLowerCase());
  if (other !== undefined)
    return `expected a unique name that differs from others by more than case, given ${JSON.stringify(name)}, and there is ${other}`;
  if (name !== 'User' && name.toLowerCase() === 'user')
    return `expected "User", which extends the built-in resource, given ${JSON.stringify(name)}`;
  return undefined;
}

interface AddedDefinition {
  readonly raw: YamlFile;
  readonly resource: Resource;
}

// `renamedFrom` must name a resource that is no longer defined, and only once.
function validateRenames(added: readonly AddedDefinition[], known: ReadonlySet<string>): readonly Mistake[] {
  const claimed = new Set<string>();
  return added.flatMap(({ raw, resource: { renamedFrom } }) => {
    if (renamedFrom === undefined) return [];
    const isRepeated = claimed.has(renamedFrom);
    claimed.add(renamedFrom);
    if (!isRepeated && !known.has(renamedFrom)) return [];
    const detail = isRepeated
      ? `expected a name that no other resource has in renamedFrom, given ${JSON.stringify(renamedFrom)}`
      : `expected the name of a resource that is no longer defined, given ${JSON.stringify(renamedFrom)}`;
    return [placeMistake(raw, { path: ['renamedFrom'], on: 'value', detail })];
  });
}

// Includes definitions with mistakes, so that references to them are not reported as well.
function knownNames(project: readonly YamlFile[], unreadable: readonly string[]): ReadonlySet<string> {
  const names = [...project.map(toName), ...unreadable.map(baseNameOf)];
  const system = ordinaryResources(SYSTEM).map((resource) => resource.name);
  return new Set([...system, ...names]);
}

/** Returns the name of a definition. A file without a name has its own mistake, and usually the name of its resource. */
function toName({ file, source }: YamlFile): string {
  return nameOf(source) ?? baseNameOf(file);
}

/** Returns the name of a file without its folder and extension. */
function baseNameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1, file.lastIndexOf('.'));
}

function nameOf(source: Json): string | undefined {
  const name = isObject(source) ? source['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** The resources of the system by name: `User`, and the internal ones, whose names begin with `_`. */
export const SYSTEM: Definitions = new Map(
  [USER, ...POLICY_DEFINITIONS, ...DECISION_DEFINITIONS, ...SERVICE_DEFINITIONS]
    .map(parseSystemDefinition)
    .map((resource) => [resource.name, resource]),
);

function parseSystemDefinition(source: JsonObject): Resource {
  const { resource, mistakes } = parseDefinition(source, { builtIn: true });
  if (resource === undefined) {
    throw new Error(`${String(source['name'])}: ${mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('; ')}`);
  }
  return resource;
}
