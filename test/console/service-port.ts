import { createServer } from 'node:net';

/** A port for the services of this process, below those that the system gives to other sockets. */
const PORT = 20_000 + (process.pid % 10_000);
let isPortUsed = false;

/**
 * Returns the port for the next service of this process, and a function that releases it: the same for one service after another, because a
 * browser keeps the compiled scripts of an address. It is 0 while another service has the port.
 */
export async function takePort(): Promise<readonly [port: number, release: () => void]> {
  if (isPortUsed) return [0, () => undefined];
  isPortUsed = true;
  const release = (): void => {
    isPortUsed = false;
  };
  if (await canListen(PORT)) return [PORT, release];
  release();
  return [0, () => undefined];
}

function canListen(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.on('error', () => done(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => done(true)));
  });
}
