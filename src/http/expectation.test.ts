import { afterEach, expect, it } from 'vitest';
import type { ResponseMetrics } from './http-options.ts';
import { type Listening, sendRaw, startServer } from './server.fixture.ts';

let listening: Listening | undefined;
afterEach(() => listening?.server.close());

const request = (expected: string, line = 'GET /api/A'): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r-1\r\nExpect: ${expected}\r\nConnection: close\r\n\r\n`;

it.each(['GET /api/A', 'POST /api/A', 'GET /healthz', 'GET /nothing'])(
  'refuses an expectation other than 100-continue with a problem, log line and metrics: %s',
  async (line) => {
    const answered: ResponseMetrics[] = [];
    listening = await startServer({ observer: { answered: (report) => void answered.push(report) } });
    const response = await sendRaw(listening.port, request('foo', line));
    expect(response).toMatch(/^HTTP\/1\.1 417 /);
    expect(response).toContain('"code":"REQUEST_EXPECTATION"');
    for (const header of ['content-type: application/problem+json', 'x-request-id: r-1', 'x-content-type-options: nosniff'])
      expect(response.toLowerCase()).toContain(header);
    expect(answered).toMatchObject([{ status: 417 }]);
    expect(listening.log).toContainEqual(expect.objectContaining({ status: 417, requestId: 'r-1' }));
  },
);

it.each(['100-continue', '100-Continue'])('serves a request with Expect: %s', async (expected) => {
  listening = await startServer();
  expect(await sendRaw(listening.port, request(expected))).toMatch(/^HTTP\/1\.1 200 /);
});
