import { describe, expect, it } from 'vitest';
import type { HttpRequest } from './http-messages.ts';
import { createHttpRequest, limits, refusalOf } from './http-request.fixture.ts';
import {
  parseActionRequest,
  parseCreateRequest,
  parseDeleteRequest,
  parseListRequest,
  parseRecordRequest,
  parseUpdateRequest,
} from './record-requests.ts';

const action = (name: string, body = {}): readonly [object, (http: HttpRequest) => unknown] => [
  { action: name, body },
  (http) => parseActionRequest(http, limits),
];

/** The requests that evaluate neither header, the one that evaluates If-None-Match, and those that evaluate If-Match. */
const NEITHER = {
  list: [{}, (http) => parseListRequest(http, limits)],
  schema: [{}, (http) => parseRecordRequest(http, 'schema')],
  create: [{ body: {} }, parseCreateRequest],
  'action read': action('read', { id: '7' }),
  'action list': action('list'),
  'action create': action('create', { data: {} }),
  updateIfExists: action('updateIfExists', { filter: { title: 'a' }, data: {} }),
  createIfNotExists: action('createIfNotExists', { filter: { title: 'a' }, data: {} }),
  import: action('import', { data: [{}] }),
  export: action('export'),
} satisfies Requests;
const READ = { read: [{ id: '7' }, (http) => parseRecordRequest(http, 'read')] } satisfies Requests;
const CHANGES = {
  update: [{ id: '7', body: {} }, parseUpdateRequest],
  delete: [{ id: '7' }, parseDeleteRequest],
  'action update': action('update', { id: '7', data: {} }),
  'action delete': action('delete', { id: '7' }),
  'action restore': action('restore', { id: '7' }),
} satisfies Requests;
type Requests = Readonly<Record<string, readonly [sent: object, parse: (http: HttpRequest) => unknown]>>;

describe('preconditions', () => {
  it.each(Object.entries<Requests[string]>({ ...NEITHER, ...READ }))('refuses If-Match in the request %s', (_name, [sent, parse]) => {
    for (const ifMatch of ['"99"', '*', 'garbage'])
      expect(refusalOf(() => parse(createHttpRequest({ ...sent, ifMatch })))).toEqual({
        code: 'REQUEST_MALFORMED',
        mistakes: ['unknown If-Match'],
      });
    expect(refusalOf(() => parse(createHttpRequest(sent)))).toBeUndefined();
  });

  it.each(Object.entries<Requests[string]>({ ...NEITHER, ...CHANGES }))(
    'refuses If-None-Match in the request %s',
    (_name, [sent, parse]) => {
      for (const ifNoneMatch of ['"1"', '*', 'garbage'])
        expect(refusalOf(() => parse(createHttpRequest({ ...sent, ifNoneMatch })))).toEqual({
          code: 'REQUEST_MALFORMED',
          mistakes: ['unknown If-None-Match'],
        });
      expect(refusalOf(() => parse(createHttpRequest(sent)))).toBeUndefined();
    },
  );

  it.each(['update', 'delete', 'restore'])('refuses If-Match beside ifMatch in the body of the action %s', (name) => {
    const body = { id: '7', ifMatch: '*', ...(name === 'update' && { data: {} }) };
    expect(refusalOf(() => parseActionRequest(createHttpRequest({ action: name, body, ifMatch: '"99"' }), limits))).toEqual({
      code: 'REQUEST_MALFORMED',
      mistakes: ['conflict ifMatch'],
    });
  });
});
