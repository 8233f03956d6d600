import { describe, expect, it } from 'vitest';
import { createRouteDirectory } from './request-guard.ts';

const directory = createRouteDirectory();
directory.add('GET', '/api/:resource');
directory.add(['POST'], '/api/:resource');
directory.add('GET', '/api/:resource/schema');
directory.add('PUT', '/api/:resource/:id');
directory.add('POST', '/api/batch');

describe('RouteDirectory', () => {
  it.each([
    ['/api/User', ['GET', 'POST']],
    ['/api/batch', ['POST']],
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

  it.each([
    ['GET', '/api/batch', true],
    ['PUT', '/api/batch', true],
    ['POST', '/api/batch', false],
    ['GET', '/api/User', false],
    ['PUT', '/api/User/schema', false],
  ])('a route without parameters takes its path from the patterns for %s %s: %s', (method, path, expected) => {
    expect(directory.isOtherMethod(method, path)).toBe(expected);
  });

  it('names every allowed method in the message', () => {
    expect(directory.explain('PATCH', '/api/User').problem.detail).toMatch(/GET, POST .*PATCH/);
  });
});
