import type { RequestOrigin } from '../request/index.ts';
import type { PolicyTestCase } from './policy-test.ts';
import { toTestId } from './test-ids.ts';

const METHODS: ReadonlyMap<string, string> = new Map([
  ['list', 'GET'],
  ['read', 'GET'],
  ['update', 'PUT'],
  ['delete', 'DELETE'],
]);

/** Returns the origin of the request of a case: the values that the test states, else those of the endpoint of the action and a local address. */
export function toTestOrigin({ resource, action, record, method, path, ip = '127.0.0.1' }: PolicyTestCase): RequestOrigin {
  const ofResource = `/api/${resource.name}`;
  const endpoint =
    action === 'list' || action === 'create'
      ? ofResource
      : METHODS.has(action) && record !== undefined
        ? `${ofResource}/${toTestId(resource.name, record)}`
        : `${ofResource}/${action}`;
  return { requestId: 'policies test', method: method ?? METHODS.get(action) ?? 'POST', path: path ?? endpoint, ip };
}
