import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sendAuthorized } from './client.ts';
import { isLost } from './problem.ts';
import { sendRecordRequest } from './records.ts';

interface FailedRequest {
  /** True if the browser has a network: before the request is sent, and after it has failed. */
  readonly isOnline: { readonly before: boolean; readonly after: boolean };
}

/** Sends a request that gets no response, and returns its error. */
async function failRequest({ isOnline: { before, after } }: FailedRequest): Promise<unknown> {
  const device = { onLine: before };
  vi.stubGlobal('navigator', device);
  vi.stubGlobal('fetch', () => {
    device.onLine = after;
    return Promise.reject(new TypeError('Failed to fetch'));
  });
  return sendAuthorized(new Request('http://localhost/api/Article', { method: 'POST' })).catch((error: unknown) => error);
}

describe('a request without a response', () => {
  it.each([
    [{ before: true, after: true }, 'NETWORK', true],
    [{ before: true, after: false }, 'NETWORK', true],
    [{ before: false, after: false }, 'OFFLINE', false],
    [{ before: false, after: true }, 'OFFLINE', false],
  ])('with a network %j has the code %s; its answer is lost: %s', async (isOnline, code, lost) => {
    const error = await failRequest({ isOnline });
    expect(error).toMatchObject({ problem: { code, status: 0 } });
    expect(isLost(error)).toBe(lost);
  });
});

describe('a success whose body breaks off', () => {
  /** Answers with the beginning of a body. */
  function breakOff(reason: Error): void {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"success":'));
        controller.error(reason);
      },
    });
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, { status: 201 })));
  }

  beforeEach(() => {
    vi.stubGlobal('navigator', { onLine: false });
    vi.stubGlobal('location', { origin: 'http://localhost' });
  });

  it('is a lost answer, also if the browser has lost its network', async () => {
    breakOff(new TypeError('network error'));
    const error = await sendRecordRequest('Article', { method: 'POST', body: {} }).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ problem: { code: 'NETWORK', detail: 'network error' } });
    expect(isLost(error)).toBe(true);
  });

  it('is no lost answer if its reader has ended the request', async () => {
    const control = new AbortController();
    control.abort();
    const reason = new DOMException('aborted', 'AbortError');
    breakOff(reason);
    const { signal } = control;
    await expect(sendRecordRequest('Article', { signal })).rejects.toBe(reason);
  });
});
