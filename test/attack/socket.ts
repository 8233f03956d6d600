/** Sends requests as bytes that no HTTP client would send. */
import { connect } from 'node:net';

/** Milliseconds after which a connection that stays open is closed. */
const GIVE_UP = 20_000;

/** Joins header lines and ends the head of the request. */
export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Sends bytes and returns all received bytes until the service closes the connection. `reply` may send more, once, after the first bytes. */
export function converse(url: string, bytes: string, reply?: (received: string) => string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = '';
    let answer = reply;
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const late = setTimeout(() => socket.destroy(new Error(`the connection stays open; received so far: ${received}`)), GIVE_UP);
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      if (answer !== undefined) socket.write(answer(received));
      answer = undefined;
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? undefined : reject(error),
    );
    socket.on('close', () => {
      clearTimeout(late);
      resolve(received);
    });
  });
}

/** Returns the statuses of all responses in the received text. */
export function statusesOf(received: string): readonly number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
