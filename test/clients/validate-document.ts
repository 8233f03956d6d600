import { createConfig, lintFromString, type RawUniversalConfig } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { isObject, type Json, type JsonObject } from '../../src/operators/index.ts';

/** The recommended rules of Redocly, and the rules that an OpenAPI 3.1 client generator depends on. All are errors. */
const RULES: RawUniversalConfig = {
  extends: ['recommended-strict'],
  rules: {
    'no-invalid-media-type-examples': 'error',
    'no-invalid-schema-examples': 'error',
    'no-invalid-parameter-examples': 'error',
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
const validator = new Validator();

/**
 * Returns the mistakes of an OpenAPI document: violations of the published JSON Schema of OpenAPI 3.1, violations of `RULES`,
 * which also resolve references and validate examples, tags that are declared twice, and bodies without an example.
 */
export async function findMistakes(document: JsonObject): Promise<readonly string[]> {
  return [
    ...(await findSchemaViolations(document)),
    ...(await findRuleViolations(document)),
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

async function findRuleViolations(document: JsonObject): Promise<readonly string[]> {
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config: await config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer ?? '#'}`);
}
