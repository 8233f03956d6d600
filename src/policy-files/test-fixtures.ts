import { didYouMean } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { type Definitions, ordinaryResources, type Resource } from '../resources/index.ts';
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
}

/** Returns the users and records of a file. A record may lack required fields: tests state only what policies read. */
export function parseFixtures({ written, named, definitions }: WrittenFixtures, reporter: Reporter): readonly Fixture[] {
  const { users = {}, records = {} } = written;
  const resources = ordinaryResources(definitions).map(({ name }) => name);
  const toFixture = (resource: Resource, path: readonly string[], values: JsonObject): Fixture => {
    const name = path.at(-1) as string;
    const parsed = parseValues({ resource, values, path, named }, reporter);
    return { resource, id: toTestId(resource.name, name), name, values: { ...defaultsOf(resource, name), ...parsed } };
  };
  if (Object.hasOwn(users, ANONYMOUS))
    reporter.report(['users', ANONYMOUS], `expected another name: "${ANONYMOUS}" is the user of a request without a token`, 'key');
  const user = definitions.get('User') as Resource;
  const fixtures = Object.entries(users).map(([name, values]) => toFixture(user, ['users', name], values));
  for (const [resourceName, those] of Object.entries(records)) {
    const isKnown = resourceName !== 'User' && resources.includes(resourceName);
    const resource = isKnown ? definitions.get(resourceName) : undefined;
    if (resource === undefined) reportResource(resourceName, resources, reporter);
    else for (const [name, values] of Object.entries(those)) fixtures.push(toFixture(resource, ['records', resourceName, name], values));
  }
  return fixtures;
}

function reportResource(name: string, resources: readonly string[], { report }: Reporter): void {
  const detail = name === 'User' ? 'expected users in the member "users"' : `no resource is named "${name}"${didYouMean(name, resources)}`;
  report(['records', name], detail, 'key');
}

/** Returns the default values of a resource, and for a user an email as well, which must be unique. */
function defaultsOf({ name: resource, fields }: Resource, name: string): JsonObject {
  const defaults = [...fields.values()].flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default] as const]));
  return { ...Object.fromEntries(defaults), ...(resource === 'User' && { email: `${toTestId(resource, name)}@example.org` }) };
}
