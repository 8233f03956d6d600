/** `GET /openapi.json` is a valid OpenAPI 3.1 document for every caller, by validators that others maintain. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '../../src/operators/index.ts';
import { type RunningService, startService } from '../harness.ts';
import { findMistakes, selectPaths } from './validate-document.ts';

let service: RunningService;
/** The document of a caller who may see no resource: the smallest. */
let smallest: JsonObject;
/** A part of it that is valid, because a validation of all takes ten times as long. */
let part: JsonObject;

beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  smallest = await loadDocument();
  part = selectPaths(smallest, ['/auth/setup', '/admin/api/decisions/{id}']);
});
afterAll(() => service.close());

async function loadDocument(token?: string): Promise<JsonObject> {
  const { body } = await service.call('GET', '/openapi.json', { token });
  if (!isObject(body as JsonObject)) throw new Error('expected the OpenAPI document');
  return body as JsonObject;
}

function resourcesOf(document: JsonObject): readonly string[] {
  return Object.keys(document['paths'] as JsonObject).flatMap((path) => /^\/api\/([A-Z]\w*)$/.exec(path)?.[1] ?? []);
}

describe('the OpenAPI document', () => {
  it('the OpenAPI document with every resource is valid', async () => {
    const complete = await loadDocument((await service.admin()).token);
    expect(resourcesOf(complete)).toEqual(['User', 'Article', 'Comment', 'Tip']);
    expect(await findMistakes(complete)).toEqual([]);
  });

  it('the OpenAPI document without a resource is valid', async () => {
    expect(resourcesOf(smallest)).toEqual([]);
    expect(await findMistakes(smallest)).toEqual([]);
  });

  it.each([['Article'], ['Comment'], ['User', 'Comment'], ['Tip']])(
    'the OpenAPI document of a caller who may read %j alone is valid',
    async (...names) => {
      const rules = names.map((resource) => ({ resource, action: 'read' }));
      const { token, id: userId } = await service.user();
      await service.createPolicy({ userId, rules });
      const document = await loadDocument(token);
      expect(resourcesOf(document).toSorted()).toEqual(names.toSorted());
      expect(await findMistakes(document)).toEqual([]);
    },
  );
});

const get = (operation: JsonObject): JsonObject => ({
  get: { operationId: 'x', summary: 'X', responses: { 200: { description: 'Done.' }, 400: { description: 'Refused.' } }, ...operation },
});
const answer = (content: JsonObject): JsonObject => ({
  responses: { 200: { description: 'Done.', content: { 'application/json': content } }, 400: { description: 'Refused.' } },
});
const untyped = { name: 'other', in: 'path', required: true, description: 'Another.' };
const parameter = { ...untyped, schema: { type: 'string' } };

/** A mistake that a generator would stumble over, paths that make it, and a part of the message. */
const BROKEN: readonly (readonly [mistake: string, paths: JsonObject, message: string])[] = [
  ['an undeclared path parameter', { '/x/{id}': get({}) }, 'path-parameters-defined'],
  ['an operation without responses', { '/x': { get: { operationId: 'x', summary: 'X' } } }, 'expected responses'],
  ['an operation id that is used twice', { '/x': get({ operationId: 'auth.setup' }) }, 'operation-operationId-unique'],
  ['an undeclared tag', { '/x': get({ tags: ['Nowhere'] }) }, 'operation-tag-defined'],
  ['a reference to nothing', { '/x': get(answer({ schema: { $ref: '#/components/schemas/Nothing' } })) }, 'no-unresolved-refs'],
  ['two paths that match the same requests', { '/admin/api/decisions/{other}': get({ parameters: [parameter] }) }, 'no-identical-paths'],
  ['an undeclared security scheme', { '/x': get({ security: [{ apiKey: [] }] }) }, 'security-defined'],
  ['a parameter that is declared twice', { '/x/{other}': get({ parameters: [parameter, parameter] }) }, 'operation-parameters-unique'],
  ['a parameter without a schema', { '/x/{other}': get({ parameters: [untyped] }) }, '/parameters/0'],
  ['a status that does not exist', { '/x': get({ responses: { 999: { description: 'Done.' } } }) }, '/responses'],
  ['a response without a description', { '/x': get({ responses: { 200: {}, 400: { description: 'Refused.' } } }) }, 'description'],
  ['a type that does not exist', { '/x': get(answer({ schema: { type: 'text' } })) }, 'struct'],
  ['a required member that is not described', { '/x': get(answer({ schema: { properties: {}, required: ['id'] } })) }, 'schema-properties'],
  [
    'an example that violates its schema',
    { '/x': get(answer({ schema: { type: 'string' }, example: 5 })) },
    'no-invalid-media-type-examples',
  ],
  ['a body without an example', { '/x': get({ requestBody: { content: { 'application/json': { schema: {} } } } }) }, 'of x request'],
  ['a response without an example', { '/x': get(answer({ schema: {} })) }, 'of x 200'],
  ['an unknown member of an operation', { '/x': get({ sumary: 'X' }) }, 'sumary'],
  ['a path without a slash', { x: get({}) }, 'paths'],
];

describe('the validation', () => {
  const withPaths = (more: JsonObject): JsonObject => ({ ...part, paths: { ...(part['paths'] as JsonObject), ...more } });

  it.each(BROKEN)('the validation finds %s', async (_, paths, message) => {
    expect((await findMistakes(withPaths(paths))).join('\n')).toContain(message);
  });

  it('the validation finds no mistake in the document to which these tests add one', async () => {
    expect(await findMistakes(part)).toEqual([]);
  });

  it('the validation finds a component that is not used', async () => {
    const components = part['components'] as JsonObject;
    const headers = { ...(components['headers'] as JsonObject), Unused: { schema: { type: 'string' } } };
    const mistakes = await findMistakes({ ...part, components: { ...components, headers } });
    expect(mistakes).toEqual(['no-unused-components: Component: "Unused" is never used. at #/components/headers/Unused']);
  });

  it('the validation finds a component with an invalid name', async () => {
    const components = part['components'] as JsonObject;
    const schemas = { ...(components['schemas'] as JsonObject), 'a b': { type: 'string' } };
    expect((await findMistakes({ ...part, components: { ...components, schemas } })).join('\n')).toContain('a b');
  });

  it('the validation finds a tag that is declared twice', async () => {
    const tags = part['tags'] as readonly JsonObject[];
    const mistakes = await findMistakes({ ...part, tags: [...tags, ...tags.slice(0, 1)] });
    expect(mistakes).toEqual(['tag-unique: the tag "Batch requests" is declared twice']);
  });

  it('the validation finds that a document has another version', async () => {
    expect(await findMistakes({ ...part, openapi: '3.0.3' })).not.toEqual([]);
  });
});
