import { describe, expect, it } from 'vitest';
import { PROBLEMS, Problem, type ProblemCode } from '../errors.ts';
import { toBatchResponse, toItem, toProblemResponse, toResultResponse, toSuccess } from './responses.ts';

describe('a success', () => {
  it('has its data first and its extras beside', () => {
    expect(Object.keys(toSuccess([1], { count: 1, nextCursor: 'c' }))).toEqual(['success', 'data', 'count', 'nextCursor']);
  });

  it('carries version, address and entry in headers', () => {
    const answer = toResultResponse({ status: 201, data: { id: '7' }, version: 1, location: '/api/Article/7' }, 'entry-1');
    expect(answer).toEqual({
      status: 201,
      headers: { etag: '"1"', location: '/api/Article/7', 'x-decision-id': 'entry-1' },
      body: { success: true, data: { id: '7' } },
    });
  });

  it('has no header that says nothing', () => {
    expect(toResultResponse({ status: 200, data: null }).headers).toEqual({});
  });
});

describe('a problem', () => {
  it('is RFC 9457 in the envelope', () => {
    const errors = [{ path: 'title', code: 'required', detail: 'expected a title' }];
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

  it.each(Object.keys(PROBLEMS) as ProblemCode[])('of code %s answers as the table says', (code) => {
    const answer = toProblemResponse(new Problem(code, 'why'), 'r');
    const { status, title } = PROBLEMS[code];
    expect(answer).toMatchObject({ status, body: { status, title, code, detail: 'why' } });
    expect(answer.headers?.['www-authenticate'] !== undefined).toBe(status === 401);
    expect(answer.cause !== undefined).toBe(status >= 500);
  });

  it.each<[ProblemCode, string]>([
    ['IDENTITY_REQUIRED', 'Bearer'],
    ['IDENTITY_TOKEN', 'Bearer error="invalid_token", error_description="the token is not valid"'],
    ['IDENTITY_TOKEN_EXPIRED', 'Bearer error="invalid_token", error_description="the token has expired"'],
  ])('of code %s challenges with %s', (code, challenge) => {
    expect(toProblemResponse(new Problem(code, 'why'), 'r').headers).toMatchObject({ 'www-authenticate': challenge });
  });

  it.each([
    [0.2, '1'],
    [59.1, '60'],
  ])('asks to wait %d s as whole seconds', (retryAfter, expected) => {
    expect(toProblemResponse(new Problem('REQUEST_RATE', 'why', { retryAfter }), 'r').headers).toEqual({ 'retry-after': expected });
  });

  it('says nothing of what is not a Problem but keeps it for the log', () => {
    const error = new Error('SELECT password FROM User');
    const answer = toProblemResponse(error, 'r');
    expect(answer).toMatchObject({ status: 500, body: { code: 'INTERNAL', detail: 'the request could not be completed' }, cause: error });
    expect(JSON.stringify(answer.body)).not.toContain('SELECT');
  });

  it('lets its own hint go before that of its code', () => {
    expect(toProblemResponse(new Problem('STORAGE_BUSY', 'why', { hint: 'look' }), 'r').body).toMatchObject({ hint: 'look' });
  });
});

describe('a batch', () => {
  it('has an item for each request, each with its entry', () => {
    const denied = new Problem('ACCESS_DENIED', 'no rule matched');
    expect(toItem({ result: { status: 200, data: 1, extras: { created: false } }, decisionId: 'e1' }, 'r')).toEqual({
      status: 200,
      success: true,
      data: 1,
      created: false,
      decisionId: 'e1',
    });
    expect(toItem({ problem: denied, decisionId: 'e2' }, 'r')).toMatchObject({
      status: 403,
      success: false,
      error: { code: 'ACCESS_DENIED', detail: 'no rule matched', requestId: 'r' },
      decisionId: 'e2',
    });
  });

  it('answers 200 with the count, and hands what failed inside to the log', () => {
    const cause = new Error('the disk');
    const outcomes = [{ result: { status: 200, data: 1 } }, { problem: new Problem('INTERNAL', 'no', { cause }) }];
    const answer = toBatchResponse(outcomes, 'r');
    expect(answer).toMatchObject({ status: 200, body: { success: true, count: 2 } });
    expect((answer.cause as AggregateError).errors).toEqual([cause]);
    expect(toBatchResponse(outcomes.slice(0, 1), 'r').cause).toBeUndefined();
  });
});
