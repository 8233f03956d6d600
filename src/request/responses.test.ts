import { describe, expect, it } from 'vitest';
import { PROBLEMS, Problem, type ProblemCode } from '../errors.ts';
import { toBatchItem, toBatchResponse, toProblemResponse, toResultResponse, toSuccess } from './responses.ts';

describe('a success response', () => {
  it('a success response has data first, and the extra members beside it', () => {
    expect(Object.keys(toSuccess([1], { count: 1, nextCursor: 'c' }))).toEqual(['success', 'data', 'count', 'nextCursor']);
  });

  it('a success response has the version, the location and the decision id as headers', () => {
    const response = toResultResponse({ status: 201, data: { id: '7' }, version: 1, location: '/api/Article/7' }, 'entry-1');
    expect(response).toEqual({
      status: 201,
      headers: { etag: '"1"', location: '/api/Article/7', 'x-decision-id': 'entry-1' },
      body: { success: true, data: { id: '7' } },
    });
  });

  it('a success response has no header without a value', () => {
    expect(toResultResponse({ status: 200, data: null }).headers).toEqual({});
  });
});

describe('a problem response', () => {
  it('a problem response follows RFC 9457, with success: false', () => {
    const errors = [{ path: 'title', code: 'required' as const, detail: 'expected a title' }];
    const problem = new Problem('VALUE_INVALID', '1 value is not acceptable', {
      errors,
      decisionId: 'entry-1',
      cause: new Error('secret'),
    });
    expect(toProblemResponse(problem, 'r-1')).toEqual({
      status: 422,
      headers: { 'x-decision-id': 'entry-1' },
      contentType: 'application/problem+json',
      body: {
        success: false,
        type: '/docs/errors#VALUE_INVALID',
        title: 'Invalid values',
        status: 422,
        code: 'VALUE_INVALID',
        detail: '1 value is not acceptable',
        errors,
        requestId: 'r-1',
        decisionId: 'entry-1',
      },
    });
  });

  it.each(Object.keys(PROBLEMS) as ProblemCode[])('%s has the status and title of the table of problems', (code) => {
    const response = toProblemResponse(new Problem(code, 'why'), 'r');
    const { status, title } = PROBLEMS[code];
    expect(response).toMatchObject({ status, body: { status, title, code, detail: 'why' } });
    expect(response.headers?.['www-authenticate'] !== undefined).toBe(status === 401);
    expect(response.cause !== undefined).toBe(status >= 500);
  });

  it.each<[ProblemCode, string]>([
    ['IDENTITY_REQUIRED', 'Bearer'],
    ['IDENTITY_TOKEN', 'Bearer error="invalid_token", error_description="the token is not valid"'],
    ['IDENTITY_TOKEN_EXPIRED', 'Bearer error="invalid_token", error_description="the token has expired"'],
  ])('%s has the challenge %s', (code, challenge) => {
    expect(toProblemResponse(new Problem(code, 'why'), 'r').headers).toMatchObject({ 'www-authenticate': challenge });
  });

  it.each([
    [0.2, '1'],
    [59.1, '60'],
  ])('rounds Retry-After of %d s up to whole seconds', (retryAfter, expected) => {
    expect(toProblemResponse(new Problem('REQUEST_RATE', 'why', { retryAfter }), 'r').headers).toEqual({ 'retry-after': expected });
  });

  it('a service that is busy says when to try again, even if the problem does not', () => {
    expect(toProblemResponse(new Problem('STORAGE_BUSY', 'why'), 'r').headers).toEqual({ 'retry-after': '1' });
  });

  it('hides the message of an error that is not a Problem, and keeps it as the cause', () => {
    const error = new Error('SELECT password FROM User');
    const response = toProblemResponse(error, 'r');
    expect(response).toMatchObject({ status: 500, body: { code: 'INTERNAL' }, cause: error });
    expect(JSON.stringify(response.body)).not.toContain('SELECT');
  });

  it('a problem response prefers the hint of the problem to the hint of its code', () => {
    expect(toProblemResponse(new Problem('STORAGE_BUSY', 'why', { hint: 'retry' }), 'r').body).toMatchObject({ hint: 'retry' });
  });
});

describe('a batch response', () => {
  it('an item of a batch response has the result or the problem, and the decision id', () => {
    const denied = new Problem('ACCESS_DENIED', 'no rule matched');
    expect(toBatchItem({ result: { status: 200, data: 1, extras: { created: false } }, decisionId: 'e1' }, 'r')).toEqual({
      status: 200,
      success: true,
      data: 1,
      created: false,
      decisionId: 'e1',
    });
    expect(toBatchItem({ problem: denied, decisionId: 'e2' }, 'r')).toMatchObject({
      status: 403,
      success: false,
      error: { code: 'ACCESS_DENIED', detail: 'no rule matched', requestId: 'r' },
      decisionId: 'e2',
    });
  });

  it('a batch response has the status 200 and the count, and internal errors as its cause', () => {
    const cause = new Error('the disk');
    const outcomes = [{ result: { status: 200, data: 1 } }, { problem: new Problem('INTERNAL', 'no', { cause }) }];
    const response = toBatchResponse(outcomes, 'r');
    expect(response).toMatchObject({ status: 200, body: { success: true, count: 2 } });
    expect((response.cause as AggregateError).errors).toEqual([cause]);
    expect(toBatchResponse(outcomes.slice(0, 1), 'r').cause).toBeUndefined();
  });
});
