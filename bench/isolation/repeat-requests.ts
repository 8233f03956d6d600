import { type ClientRequest, request } from 'node:http';
import type { ExpensiveRequest } from './expensive-requests.ts';
import type { Callers } from './fill-world.ts';

/** Requests that are repeated until they are stopped. */
export interface Repeated {
  /** Stops after the current requests; returns the sizes of the answers. */
  stop(): Promise<{ readonly answered: number; readonly refused: number; readonly largestMb: number; readonly slowestMs: number }>;
}

/** Repeats an expensive request with its number of clients. Answers are counted and not kept: they may be larger than the memory. */
export function repeatRequests(url: string, callers: Callers, expensive: ExpensiveRequest): Repeated {
  const counted = { answered: 0, refused: 0, largestMb: 0, slowestMs: 0 };
  const { isEndless = false } = expensive;
  const open = new Set<ClientRequest>();
  let isStopped = false;
  let turn = 0;

  async function runClient(): Promise<void> {
    while (!isStopped) {
      const from = performance.now();
      const { status, bytes } = await sendOne(url, expensive.toRequest(callers, turn++), { open, isEndless });
      if (status >= 200 && status < 300) counted.answered++;
      else counted.refused++;
      counted.largestMb = Math.max(counted.largestMb, bytes / 1e6);
      counted.slowestMs = Math.max(counted.slowestMs, performance.now() - from);
    }
  }

  const clients = Array.from({ length: expensive.clients }, runClient);
  return {
    async stop() {
      isStopped = true;
      if (isEndless) for (const each of open) each.destroy();
      await Promise.all(clients);
      return counted;
    },
  };
}

interface Answer {
  /** 0 if the connection was lost, unless the answer is endless. */
  readonly status: number;
  readonly bytes: number;
}

interface Sending {
  /** The requests that wait for the end of their answer. */
  readonly open: Set<ClientRequest>;
  readonly isEndless: boolean;
}

function sendOne(
  url: string,
  { method, path, body, token }: ReturnType<ExpensiveRequest['toRequest']>,
  { open, isEndless }: Sending,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve) => {
    let bytes = 0;
    const sent = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      const end = (): void => resolve({ status: answer.complete || isEndless ? (answer.statusCode ?? 0) : 0, bytes });
      answer.once('end', end).once('error', end);
    });
    sent.once('error', () => resolve({ status: 0, bytes }));
    open.add(sent);
    sent.once('close', () => open.delete(sent));
    sent.end(text);
  });
}
