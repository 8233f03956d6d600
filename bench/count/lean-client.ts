import { once } from 'node:events';
import { connect } from 'node:net';

/** A client that allocates almost nothing, so that the bytes of a request in one process are those of the service. */
export interface LeanClient {
  /** Sends the bytes of an HTTP request and waits for the whole response. @throws Error if the response is no success */
  send(request: string): Promise<void>;
  close(): void;
}

/** The bytes of a request to send. */
export interface LeanRequest {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: object;
}

/** Opens one connection to a service. */
export async function openLeanClient(url: string): Promise<LeanClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let left = 0;
  let answered: PromiseWithResolvers<void> | undefined;
  socket.on('data', (bytes) => {
    try {
      left += left === 0 ? remainingAfter(bytes) : -bytes.length;
    } catch (error) {
      answered?.reject(error);
    }
    if (left === 0) answered?.resolve();
  });
  socket.on('error', (error) => answered?.reject(error));
  return {
    send(request) {
      answered = Promise.withResolvers();
      socket.write(request);
      return answered.promise;
    },
    close: () => socket.destroy(),
  };
}

/** Returns the bytes of a response that follow its first chunk, which has all headers. */
function remainingAfter(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n');
  const head = chunk.toString('latin1', 0, end);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (end === -1 || length === undefined || !head.startsWith('HTTP/1.1 2')) {
    throw new Error(`expected a success with a length, given ${chunk.toString()}`);
  }
  return end + 4 + Number(length) - chunk.length;
}

/** Returns the bytes of a request. */
export function toBytes({ method, path, token, body }: LeanRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const content = body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${content}\r\n${text}`;
}
