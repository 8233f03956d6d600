import { InputData, JSONSchemaInput, quicktype } from 'quicktype-core';
import { isObject, type JsonObject } from '../../src/operators/index.ts';

/**
 * Generates a Python module with a dataclass for every request body and successful response of some operations, and for a problem.
 * The operation `Article.create` gives `ArticleCreateRequest` and `ArticleCreateResponse`.
 */
export async function generatePython(document: JsonObject, operationIds: readonly string[]): Promise<string> {
  const bodies = new Map([['Problem', { $ref: '#/components/schemas/api.Problem' } as JsonObject]]);
  for (const id of operationIds) for (const [name, schema] of bodiesOf(document, id)) bodies.set(name, schema);
  // quicktype generates from JSON Schema: the bodies become named schemas beside the components that they refer to.
  const schema = JSON.stringify({ ...withTitles(document), bodies: Object.fromEntries(bodies) });
  const input = new JSONSchemaInput(undefined);
  await input.addSource({ name: 'Newsroom', schema, uris: [...bodies.keys()].map((name) => `#/bodies/${name}`) });
  const inputData = new InputData();
  inputData.addInput(input);
  const { lines } = await quicktype({ inputData, lang: 'python', rendererOptions: { 'python-version': '3.7' } });
  return lines.join('\n');
}

function bodiesOf(document: JsonObject, operationId: string): readonly (readonly [name: string, schema: JsonObject])[] {
  const { requestBody, responses } = findOperation(document, operationId);
  const succeeded = Object.entries(responses as JsonObject).filter(([status]) => status.startsWith('2'));
  const answers = succeeded.flatMap(([, response]) => schemaOf(response as JsonObject));
  const name = toPascalCase(operationId);
  return [
    ...schemaOf(requestBody as JsonObject | undefined).map((schema) => [`${name}Request`, schema] as const),
    [`${name}Response`, answers.length === 1 ? (answers[0] as JsonObject) : { anyOf: answers }] as const,
  ];
}

function schemaOf(body: JsonObject | undefined): readonly JsonObject[] {
  const content = body?.['content'] as JsonObject | undefined;
  const media = content?.['application/json'] as JsonObject | undefined;
  return media === undefined ? [] : [media['schema'] as JsonObject];
}

function findOperation(document: JsonObject, operationId: string): JsonObject {
  const operations = Object.values(document['paths'] as JsonObject).flatMap((item) => Object.values(item as JsonObject));
  const found = operations.filter(isObject).find((operation) => operation['operationId'] === operationId);
  if (found === undefined) throw new Error(`expected an operation ${operationId}`);
  return found;
}

/** Gives every component a title, which quicktype takes as the name of its class. */
function withTitles(document: JsonObject): JsonObject {
  const components = document['components'] as JsonObject;
  const schemas = Object.entries(components['schemas'] as JsonObject).map(([name, schema]) => [
    name,
    { title: toPascalCase(name), ...(schema as JsonObject) },
  ]);
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } };
}

function toPascalCase(name: string): string {
  return name
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
