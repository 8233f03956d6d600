import { describe, expect, it } from 'vitest';
import { readProblem } from './problem.ts';

describe('readProblem', () => {
  it('returns the problem of the service, with the id of its request', async () => {
    const problem = { title: 'Denied', status: 403, code: 'ACCESS_DENIED', detail: 'no rule allows it' };
    const headers = { 'x-request-id': 'r1', 'retry-after': '7' };
    const { problem: read, retryAfter, message } = await readProblem(Response.json(problem, { status: 403, headers }));
    expect(read).toEqual({ ...problem, requestId: 'r1' });
    expect([retryAfter, message]).toEqual([7, 'no rule allows it']);
  });

  it.each(['<html>Bad gateway</html>', '', '"<html>"', 'null', '[]', '{"message":"no upstream"}'])(
    'names the status of an answer that is not from the service: %s',
    async (body) => {
      const { problem, message } = await readProblem(new Response(body, { status: 502 }));
      expect(problem).toEqual({
        title: 'The request failed with status 502',
        detail: 'The service did not answer: the answer comes from something between the browser and the service, such as a proxy.',
        status: 502,
        code: 'UNKNOWN',
      });
      expect(message).not.toBe('');
    },
  );

  it('has the text of the status as its title, if there is one', async () => {
    const { problem } = await readProblem(new Response('', { status: 504, statusText: 'Gateway Timeout' }));
    expect(problem.title).toBe('Gateway Timeout');
  });
});
