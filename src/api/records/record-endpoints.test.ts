import { describe, expect, it } from 'vitest';
import { ACTIONS } from '../../actions.ts';
import { limits } from '../../request/http-request.fixture.ts';
import { parseDefinition, type Resource } from '../../resources/index.ts';
import { componentName } from '../../schemas/index.ts';
import { recordEndpoints } from './record-endpoints.ts';

function resourceOf(name: string, softDelete: boolean): Resource {
  const { resource, mistakes } = parseDefinition({ name, softDelete, fields: { title: { type: 'string', required: true } } });
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

const kept = recordEndpoints([resourceOf('Page', true)], limits);
const both = recordEndpoints([resourceOf('Page', true), resourceOf('Note', false)], limits);
const find = (id: string) => both.find((endpoint) => endpoint.id === id);

describe('recordEndpoints', () => {
  it('a resource has an endpoint for each method, its description and each action', () => {
    expect(kept.map(({ method, path, id }) => `${method} ${path} ${id}`)).toEqual([
      'GET /api/Page Page.list',
      'POST /api/Page Page.create',
      'GET /api/Page/schema Page.schema',
      'GET /api/Page/:id Page.read',
      'PUT /api/Page/:id Page.update',
      'DELETE /api/Page/:id Page.delete',
      ...[...ACTIONS.keys()].map((action) => `POST /api/Page/${action} Page.action.${action}`),
      'POST /api/batch batch.run',
    ]);
  });

  it('only a resource with soft deletes has the actions on deleted records, and the parameter deleted', () => {
    expect(both.filter(({ id }) => /restore|listDeleted/.test(id)).map(({ tag }) => tag)).toEqual(['Page', 'Page']);
    const queries = ['Page.list', 'Note.list'].map((id) => Object.keys(find(id)?.query?.properties ?? {}).includes('deleted'));
    expect(queries).toEqual([true, false]);
  });

  it('no endpoint exists without resources, not even of batches', () => {
    expect(recordEndpoints([], limits)).toEqual([]);
  });

  it.each([
    ['Page.action.list', { limit: { maximum: limits.pageMax }, sort: { maxItems: limits.sortKeys } }],
    ['Page.action.export', { limit: { maximum: limits.exportMax } }],
    ['Page.action.import', { data: { maxItems: limits.importRows } }],
    ['batch.run', { requests: { maxItems: limits.batchItems } }],
  ])('the body of %s has the limits of the configuration', (id, properties) => {
    expect(JSON.parse(JSON.stringify(find(id)?.body))).toMatchObject({ properties });
  });

  it('a body of values is VALUE_INVALID if it is wrong, a body of members REQUEST_MALFORMED', () => {
    expect(['Page.create', 'Page.update', 'Page.action.create'].map((id) => find(id)?.bodyProblem)).toEqual([
      'VALUE_INVALID',
      'VALUE_INVALID',
      undefined,
    ]);
  });

  it('only the actions without required members accept a request without a body', () => {
    const optional = kept.filter(({ bodyOptional }) => bodyOptional === true).map(({ id }) => id);
    expect(optional).toEqual(['Page.action.list', 'Page.action.export', 'Page.action.listDeleted']);
  });

  it('the requests of a batch are one alternative for each resource and action', () => {
    const body = find('batch.run')?.body as unknown as {
      readonly properties: { readonly requests: { readonly items: { readonly oneOf: readonly object[] } } };
    };
    const { items } = body.properties.requests;
    expect(componentName(items as never)).toBe('batch.Request');
    const actions = items.oneOf.map((each) => [componentName(each as never), (each as { oneOf: object[] }).oneOf.length]);
    expect(actions).toEqual([
      ['Page.batch', ACTIONS.size + 1],
      ['Note.batch', ACTIONS.size - 1],
    ]);
  });
});
