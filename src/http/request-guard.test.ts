import { describe, expect, it } from 'vitest';
import { createRouteDirectory } from './request-guard.ts';

const directory = createRouteDirectory();
directory.add('GET', '/api/:resource');
directory.add(['POST'], '/api/:resource');
directory.add('GET', '/api/:resource/schema');
directory.add('PUT', '/api/:resource/:id');

describe('RouteDirectory', () => {
  it.each([
    ['/api/User', ['GET', 'POST']],
    ['/api/User/7', ['PUT']],
    ['/api/User/schema', ['GET', 'PUT']],
    ['/api/', []],
    ['/api', []],
    ['/api/User/', []],
    ['/api/User/7/8', []],
    ['/Api/User', []],
    ['*', []],
  ])('returns the methods allowed at %s', (path, allow) => {
    const explained = directory.explain('PATCH', path);
    expect(explained.allow).toEqual(allow);
    expect(explained.problem.code).toBe(allow.length === 0 ? 'REQUEST_NO_ROUTE' : 'REQUEST_METHOD');
  });

  it('names every allowed method in the message', () => {
    expect(directory.explain('PATCH', '/api/User').problem.detail).toMatch(/GET, POST .*PATCH/);
  });
});
