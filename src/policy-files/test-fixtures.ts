import type { Json, JsonObject } from '../operators/index.ts';
import { type Definitions, ordinaryResources, type Resource, suggestResource } from '../resources/index.ts';
import type { Fixture } from './policy-test.ts';
import { ANONYMOUS, type WrittenTestFile } from './policy-test-schema.ts';
import type { Reporter } from './reporter.ts';
import { toTestId } from './test-ids.ts';
import { type NamedRecords, parseValues } from './test-values.ts';

/** Returns the names of the users and records of a file. */
export function namesOf({ users = {}, records = {} }: WrittenTestFile): NamedRecords {
  const named = Object.entries(records).map(([resource, those]) => [resource, new Set(Object.keys(those))] as const);
  return new Map([...named, ['User', new Set(Object.keys(users))]]);
}

/** The input of `parseFixtures`. */
export interface WrittenFixtures {
  readonly written: WrittenTestFile;
  readonly named: NamedRecords;
  readonly definitions: Definitions;
  /** The names of resources whose definitions have mistakes. The users and records of these resources in tests are not validated. */
  readonly incomplete: ReadonlySet<string>;
}

/** Returns the users and records of a file. A record may lack required fields: tests state only what policies read. */
export function parseFixtures({ written, named, definitions, incomplete }: WrittenFixtures, reporter: Reporter): readonly Fixture[] {
  const { users = {}, records = {} } = written;
  const toFixture = (resource: Resource, path: readonly string[], values: JsonObject): Fixture => {
    const name = path.at(-1) as string;
    const parsed = parseValues({ resource, values, path, named }, reporter);
    return { resource, id: toTestId(resource.name, name), name, values: { ...defaultsOf(resource, { name, values }), ...parsed } };
  };
  if (Object.hasOwn(users, ANONYMOUS))
    reporter.report(['users', ANONYMOUS], `expected another name: "${ANONYMOUS}" is the user of a request without a token`, 'key');
  const user = definitions.get('User');
  const fixtures = user === undefined ? [] : Object.entries(users).map(([name, values]) => toFixture(user, ['users', name], values));
  for (const [resourceName, those] of Object.entries(records)) {
    const resource = ordinaryResources(definitions).find(({ name }) => name === resourceName && name !== 'User');
    if (resource === undefined) {
      if (resourceName === 'User' || !incomplete.has(resourceName)) reportResource(resourceName, definitions, reporter);
    } else for (const [name, values] of Object.entries(those)) fixtures.push(toFixture(resource, ['records', resourceName, name], values));
  }
  return fixtures;
}

function reportResource(name: string, definitions: Definitions, { report }: Reporter): void {
  const near = suggestResource(definitions, name);
  const detail = name === 'User' ? 'expected users in the member "users"' : `no resource is named "${name}"${near}`;
  report(['records', name], detail, 'key');
}

/** Returns the default values of the fields that have no written value, and for a user an email as well, which must be unique. */
function defaultsOf({ name: resource, fields }: Resource, { name, values }: Pick<Fixture, 'name' | 'values'>): JsonObject {
  // A written null stands for a missing value, also in a field with a default.
  const absent = [...fields.values()].filter((field) => field.default !== undefined && !Object.hasOwn(values, field.name));
  const defaults = absent.map((field) => [field.name, field.default as Json] as const);
  return { ...Object.fromEntries(defaults), ...(resource === 'User' && { email: `${toTestId(resource, name)}@example.org` }) };
}
