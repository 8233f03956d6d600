/** The structural rules of OpenAPI 3.1 that our documents could break, and that they do not. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { loadProject } from '../../resources/system/index.ts';
import { describedEndpoints } from '../openapi-endpoint.ts';
import { createOpenApi } from './openapi-document.ts';

const { definitions } = loadProject(fileURLToPath(new URL('../../../examples/newsroom/resources', import.meta.url)));
const document = createOpenApi({ endpoints: describedEndpoints({ hasSetup: true, others: [] }), definitions });

describe('the structure', () => {
  it('is that of OpenAPI 3.1', () => {
    expect(findStructuralMistakes(document)).toEqual([]);
  });

  it.each([[], ['Article'], ['Comment'], ['User', 'Comment'], ['Tip']])(
    'is that of OpenAPI 3.1 with some resources alone: %j',
    (...names) => {
      const some = createOpenApi({ endpoints: describedEndpoints({ hasSetup: true, others: [] }), definitions, visible: new Set(names) });
      expect(findStructuralMistakes(some)).toEqual([]);
      const shown = Object.keys(some['paths'] as JsonObject).flatMap((at) => /^\/api\/([A-Z]\w*)$/.exec(at)?.[1] ?? []);
      expect(shown.sort()).toEqual(names.toSorted());
    },
  );

  const path = (item: JsonObject): JsonObject => ({ ...document, paths: { ...(document['paths'] as JsonObject), ...item } });
  const get = (operation: JsonObject): JsonObject => ({
    get: { operationId: 'x', responses: { 200: { description: 'Done.' } }, ...operation },
  });

  it.each<[string, JsonObject]>([
    ['parameter {id} is not declared', path({ '/x/{id}': get({}) })],
    ['expected responses', path({ '/x': { get: { operationId: 'x' } } })],
    ['operationId "auth.setup" is used twice', path({ '/x': get({ operationId: 'auth.setup' }) })],
    ['tag "Nowhere" is not declared', path({ '/x': get({ tags: ['Nowhere'] }) })],
    ['#/components/schemas/Nothing leads nowhere', path({ '/x': get({ requestBody: { $ref: '#/components/schemas/Nothing' } }) })],
    [
      'is the same address as another',
      path({ '/api/Article/{other}': get({ parameters: [{ name: 'other', in: 'path', required: true, schema: {} }] }) }),
    ],
    ['security scheme "apiKey" is not declared', path({ '/x': get({ security: [{ apiKey: [] }] }) })],
  ])('is checked: %s', (mistake, broken) => {
    expect(findStructuralMistakes(broken).join('\n')).toContain(mistake);
  });
});

/** One operation with its address. */
interface LocatedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  readonly item: JsonObject;
}

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete']);

/** Every operation of a document. */
function operationsOf(document: JsonObject): readonly LocatedOperation[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) => {
    if (!isObject(item)) return [];
    return Object.entries(item).flatMap(([method, operation]) =>
      METHODS.has(method) && isObject(operation) ? [{ method: method.toUpperCase(), path, operation, item }] : [],
    );
  });
}

/** Returns the mistakes of a document, each with its place. */
function findStructuralMistakes(document: JsonObject): readonly string[] {
  const operations = operationsOf(document);
  return [
    ...findTopMistakes(document),
    ...findPathMistakes(document),
    ...operations.flatMap((operation) => findOperationMistakes(document, operation)),
    ...findTwice(operations.map(({ operation }) => String(operation['operationId']))).map((id) => `operationId "${id}" is used twice`),
    ...findBrokenReferences(document, document),
  ];
}

function findTopMistakes(document: JsonObject): string[] {
  const { openapi, info } = document;
  const tags = listAt(document, 'tags').map((tag) => (isObject(tag) ? String(tag['name']) : ''));
  const names = Object.values(objectAt(document, 'components')).flatMap((section) => (isObject(section) ? Object.keys(section) : []));
  return [
    ...(typeof openapi === 'string' && /^3\.1\.\d+$/.test(openapi) ? [] : ['expected openapi 3.1']),
    ...(isObject(info) && typeof info['title'] === 'string' && typeof info['version'] === 'string'
      ? []
      : ['expected a title and a version']),
    ...findTwice(tags).map((tag) => `tag "${tag}" is declared twice`),
    ...names.filter((name) => !/^[a-zA-Z0-9._-]+$/.test(name)).map((name) => `component "${name}" has a name that may not be`),
  ];
}

function findPathMistakes(document: JsonObject): string[] {
  const paths = Object.keys(objectAt(document, 'paths'));
  const templates = paths.map((path) => path.replaceAll(/\{[^}]+\}/g, '{}'));
  return [
    ...paths.filter((path) => !path.startsWith('/')).map((path) => `${path} does not begin with /`),
    ...findTwice(templates).map((template) => `${template} is the same address as another`),
  ];
}

function findOperationMistakes(document: JsonObject, { method, path, operation }: LocatedOperation): string[] {
  const at = `${method} ${path}:`;
  const parameters = listAt(operation, 'parameters').map((parameter) => resolve(document, parameter));
  const declared = parameters.filter((parameter) => parameter['in'] === 'path' && parameter['required'] === true).map(({ name }) => name);
  const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string);
  const tags = listAt(document, 'tags').map((tag) => (isObject(tag) ? tag['name'] : ''));
  const schemes = Object.keys(objectAt(objectAt(document, 'components'), 'securitySchemes'));
  const required = listAt(operation, 'security').flatMap((requirement) => (isObject(requirement) ? Object.keys(requirement) : []));
  return [
    ...named.filter((name) => !declared.includes(name)).map((name) => `${at} parameter {${name}} is not declared`),
    ...parameters
      .filter((parameter) => !('name' in parameter && 'schema' in parameter))
      .map(() => `${at} expected a name and a schema of a parameter`),
    ...findTwice(parameters.map((parameter) => `${parameter['in']} ${parameter['name']}`)).map(
      (name) => `${at} parameter ${name} is there twice`,
    ),
    ...listAt(operation, 'tags')
      .filter((tag) => !tags.includes(tag))
      .map((tag) => `${at} tag "${tag}" is not declared`),
    ...required.filter((name) => !schemes.includes(name)).map((name) => `${at} security scheme "${name}" is not declared`),
    ...findResponseMistakes(document, operation).map((mistake) => `${at} ${mistake}`),
  ];
}

function findResponseMistakes(document: JsonObject, operation: JsonObject): string[] {
  const responses = Object.entries(objectAt(operation, 'responses'));
  if (responses.length === 0) return ['expected responses'];
  return responses.flatMap(([status, response]) => [
    ...(/^[1-5]\d\d$/.test(status) ? [] : [`${status} is no status`]),
    ...(typeof resolve(document, response)['description'] === 'string' ? [] : [`expected a description of response ${status}`]),
  ]);
}

function findBrokenReferences(document: JsonObject, part: Json): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const target = isObject(part) ? part['$ref'] : undefined;
  const own = typeof target === 'string' && lookUp(document, target) === undefined ? [`${target} leads nowhere`] : [];
  return [...own, ...Object.values(part).flatMap((each: Json) => findBrokenReferences(document, each))];
}

function resolve(document: JsonObject, part: Json): JsonObject {
  const target = isObject(part) ? part['$ref'] : undefined;
  const found = typeof target === 'string' ? lookUp(document, target) : part;
  return isObject(found) ? found : {};
}

function lookUp(document: JsonObject, target: string): Json | undefined {
  return target
    .replace(/^#\//, '')
    .split('/')
    .reduce<Json | undefined>((part, key) => (isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined), document);
}

function findTwice(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) < index))];
}

function objectAt(of: JsonObject, key: string): JsonObject {
  const value = of[key];
  return isObject(value) ? value : {};
}

function listAt(of: JsonObject, key: string): readonly Json[] {
  const value = of[key];
  return Array.isArray(value) ? value : [];
}
