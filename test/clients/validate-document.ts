import { createConfig, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { isObject, type Json, type JsonObject } from '../../src/operators/index.ts';

/** The rules that validate examples. They take most of the time, because they compile the schema of each. */
const EXAMPLE_RULES = ['no-invalid-media-type-examples', 'no-invalid-schema-examples', 'no-invalid-parameter-examples'] as const;

const withExampleRules = (severity: 'error' | 'off') => Object.fromEntries(EXAMPLE_RULES.map((rule) => [rule, severity]));

/** The recommended rules of Redocly, and the rules that an OpenAPI 3.1 client generator depends on. All are errors. */
const RULES: RawUniversalConfig = {
  extends: ['recommended-strict'],
  rules: {
    ...withExampleRules('off'),
    'no-required-schema-properties-undefined': 'error',
    'no-schema-type-mismatch': 'error',
    'operation-operationId-url-safe': 'error',
    'operation-tag-defined': 'error',
    'parameter-description': 'error',
    'spec-strict-refs': 'error',
    'tag-description': 'error',
    'rule/operation-responses': {
      subject: { type: 'Operation', property: 'responses' },
      assertions: { defined: true },
      message: 'expected responses of the operation',
    },
  },
};

/** Created once: it takes as long as a validation. */
const config = createConfig(RULES);
const exampleConfig = createConfig({ rules: withExampleRules('error') });
const validator = new Validator();

/** Texts of paths and of their components whose examples are valid. Most paths of a document are in other documents too. */
const withValidExamples = new Set<string>();

/**
 * Returns the mistakes of an OpenAPI document: violations of the published JSON Schema of OpenAPI 3.1, violations of `RULES`,
 * which also resolve references, examples that violate their schema, tags that are declared twice, and bodies without an example.
 */
export async function findMistakes(document: JsonObject): Promise<readonly string[]> {
  return [
    ...(await findSchemaViolations(document)),
    ...(await findRuleViolations(document, config)),
    ...(await findInvalidExamples(document)),
    ...findRepeatedTags(document),
    ...findMissingExamples(document),
  ];
}

/** Finds tags that are declared twice. Neither JSON Schema nor Redocly can find them. */
function findRepeatedTags({ tags }: JsonObject): readonly string[] {
  const names = (tags as readonly JsonObject[]).map(({ name }) => String(name));
  const repeated = names.filter((name, index) => names.indexOf(name) < index);
  return repeated.map((name) => `tag-unique: the tag "${name}" is declared twice`);
}

/** Finds JSON bodies of requests and of successful responses without an example. Redocly validates only the examples that exist. */
function findMissingExamples(document: JsonObject): readonly string[] {
  const operations = Object.values(document['paths'] as JsonObject).flatMap((item) => Object.values(item as JsonObject));
  return operations.filter(isObject).flatMap(({ operationId, requestBody, responses = {} }) => {
    const succeeded = Object.entries(responses as JsonObject).filter(([status]) => status.startsWith('2'));
    const bodies = Object.entries({ ...Object.fromEntries(succeeded), ...(requestBody !== undefined && { request: requestBody }) });
    return bodies.flatMap(([name, body]) =>
      lacksExample(body) ? [`example-defined: no example of the JSON of ${operationId} ${name}`] : [],
    );
  });
}

function lacksExample(body: Json): boolean {
  const content = isObject(body) ? body['content'] : undefined;
  const json = isObject(content) ? content['application/json'] : undefined;
  return isObject(json) && !('example' in json);
}

async function findSchemaViolations(document: JsonObject): Promise<readonly string[]> {
  const { valid, errors } = await validator.validate(structuredClone(document));
  if (valid) return [];
  return typeof errors === 'string' ? [errors] : (errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

/** Validates the examples of the paths that no valid document had. An unused component, whose examples are in no path, violates `RULES`. */
async function findInvalidExamples(document: JsonObject): Promise<readonly string[]> {
  const parts = Object.keys(document['paths'] as JsonObject).map((path) => {
    const { paths, components } = selectPaths(document, [path]);
    return { path, text: JSON.stringify([paths, components]) };
  });
  const other = parts.filter(({ text }) => !withValidExamples.has(text));
  const rest = other.map(({ path }) => path);
  const found = await findRuleViolations(selectPaths(document, rest), exampleConfig);
  if (found.length === 0) for (const { text } of other) withValidExamples.add(text);
  return found;
}

async function findRuleViolations(document: JsonObject, how: typeof config): Promise<readonly string[]> {
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config: await how });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer ?? '#'}`);
}

/** Returns the document with these paths alone, and the components that they refer to. */
export function selectPaths(document: JsonObject, paths: readonly string[]): JsonObject {
  const kept = Object.fromEntries(paths.map((path) => [path, (document['paths'] as JsonObject)[path] as JsonObject]));
  const components = document['components'] as Readonly<Record<string, JsonObject>>;
  const used = new Set(refsIn(kept));
  for (const ref of used) for (const further of refsIn(componentAt(components, ref))) used.add(further);
  const usedOf = (kind: string): JsonObject =>
    Object.fromEntries(Object.entries(components[kind] ?? {}).filter(([name]) => used.has(`#/components/${kind}/${name}`)));
  const kinds = Object.keys(components).filter((kind) => kind !== 'securitySchemes');
  const { securitySchemes } = components as { readonly securitySchemes: JsonObject };
  return { ...document, paths: kept, components: { ...Object.fromEntries(kinds.map((kind) => [kind, usedOf(kind)])), securitySchemes } };
}

function refsIn(value: Json): readonly string[] {
  return [...JSON.stringify(value).matchAll(/"(#\/components\/[^"]+)"/g)].map(([, ref = '']) => ref);
}

function componentAt(components: Readonly<Record<string, JsonObject>>, ref: string): JsonObject {
  const [kind = '', name = ''] = ref.split('/').slice(2);
  // Other rules find a reference to nothing.
  return (components[kind]?.[name] as JsonObject | undefined) ?? {};
}
