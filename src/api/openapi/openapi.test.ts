import { describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { type EndpointDescription, envelope } from '../../request/index.ts';
import { component, described, Input, Type } from '../../schemas/index.ts';
import { createOpenApi } from './openapi-document.ts';

const PAGE = component(
  'press.Page',
  Type.Object({ title: Type.String(), next: Type.Optional(Type.Unsafe<object>({ $ref: '#/components/schemas/press.Page' })) }),
);
const WHERE = component(
  'press.Filter',
  described<object>({ type: 'object', properties: { title: { type: 'string' } }, description: 'A filter.' }),
);

const print: EndpointDescription = {
  method: 'POST',
  path: '/press/:press/pages/:id',
  id: 'press.print',
  tag: 'Press',
  summary: 'Prints a page.',
  caller: 'bearer',
  params: Input({ press: Type.String(), id: Type.String({ description: 'Id of the page.' }) }),
  query: Input({ where: Type.Optional(WHERE), copies: Type.Integer({ description: 'Number of copies.' }) }),
  ifMatch: true,
  body: Input({ page: PAGE, where: Type.Optional(WHERE) }),
  bodyExample: { page: { title: 'One' } },
  otherBodies: { 'application/json': Type.Array(PAGE), 'text/csv': Type.String() },
  answers: { 201: { description: 'Printed.', schema: envelope(PAGE), example: { success: true }, headers: ['ETag'] } },
  problems: [404],
};
const list: EndpointDescription = {
  method: 'GET',
  path: '/press/:press/pages/:id',
  id: 'press.read',
  tag: 'Press',
  summary: 'Returns a page.',
  caller: 'anyone',
  answers: { 200: { description: 'A page.', schema: envelope(PAGE) } },
};

const componentsOf = (document: JsonObject) => document['components'] as Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
const document = createOpenApi({ endpoints: [print, list], resources: [] });
const item = (document['paths'] as JsonObject)['/press/{press}/pages/{id}'] as Readonly<Record<string, JsonObject>>;
const operation = item['post'] as JsonObject;
const schemas = componentsOf(document)['schemas'] ?? {};

describe('the OpenAPI document of endpoints', () => {
  it('the endpoints of one path are the methods of one item', () => {
    expect(Object.entries(item).map(([method, each]) => `${method} ${String(each['operationId'])}`)).toEqual([
      'post press.print',
      'get press.read',
    ]);
  });

  it('the parameters of an operation are those of its path, its query and its headers', () => {
    expect(operation['parameters']).toEqual([
      { name: 'press', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'id', in: 'path', required: true, description: 'Id of the page.', schema: { type: 'string' } },
      {
        name: 'where',
        in: 'query',
        description: 'A filter.',
        style: 'deepObject',
        explode: true,
        schema: { $ref: '#/components/schemas/press.Filter' },
      },
      { name: 'copies', in: 'query', required: true, description: 'Number of copies.', schema: { type: 'integer' } },
      { $ref: '#/components/parameters/ifMatch' },
    ]);
  });

  it('a named schema is one component, which keeps its description and loses its internal keywords', () => {
    expect(schemas['press.Filter']).toEqual({ type: 'object', properties: { title: { type: 'string' } }, description: 'A filter.' });
    expect(JSON.stringify(document)).not.toContain('"x-');
  });

  it('a schema that refers to itself is a component', () => {
    expect((schemas['press.Page'] as JsonObject)['properties']).toMatchObject({ next: { $ref: '#/components/schemas/press.Page' } });
  });

  it('a body has its example, and its alternatives by media type', () => {
    const page = { $ref: '#/components/schemas/press.Page' };
    expect(operation['requestBody']).toMatchObject({
      required: true,
      content: {
        'application/json': {
          schema: { anyOf: [{ properties: { page } }, { type: 'array', items: page }] },
          example: { page: { title: 'One' } },
        },
        'text/csv': { schema: { type: 'string' } },
      },
    });
  });

  it('the responses of an operation are its own, those of every operation, and those of its caller and body', () => {
    const statuses = ({ responses }: JsonObject): readonly string[] => Object.keys(responses as JsonObject);
    expect(statuses(operation)).toEqual(['201', '400', '401', '404', '405', '408', '413', '415', '417', '421', '422', '429', '500', '503']);
    expect(statuses(item['get'] as JsonObject)).toEqual(['200', '400', '401', '405', '408', '413', '417', '421', '429', '500', '503']);
    expect([operation['security'], item['get']?.['security']]).toEqual([[{ bearerAuth: [] }], undefined]);
  });

  it('the responses of problems name every problem code', () => {
    const problems = Object.values(PROBLEMS).map(({ status }) => status);
    const { responses } = componentsOf(createOpenApi({ endpoints: [{ ...print, problems }], resources: [] }));
    const text = JSON.stringify(responses);
    expect(Object.keys(PROBLEMS).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it('the document contains only the components to which an operation or another component refers', () => {
    const { parameters, headers, responses } = componentsOf(createOpenApi({ endpoints: [list], resources: [] }));
    expect(parameters).toEqual({});
    expect(Object.keys(headers ?? {})).toEqual(['X-Request-Id', 'X-Decision-Id', 'Retry-After', 'WWW-Authenticate', 'Allow']);
    expect(Object.keys(responses ?? {})).toEqual(
      ['400', '401', '405', '408', '413', '417', '421', '429', '500', '503'].map((status) => `problem${status}`),
    );
  });
});
