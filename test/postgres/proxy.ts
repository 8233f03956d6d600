/** A proxy in front of a PostgreSQL server that can delay or drop messages, or cut the connection at the next COMMIT. */
import { createConnection, createServer, type Socket } from 'node:net';

/** The point at which the next COMMIT is cut. */
export type Cut =
  /** It does not reach the server. */
  | 'before'
  /** The server performs it, and the client receives no response. */
  | 'after'
  /** The client is disconnected at once; the server receives it when `deliver` is called. */
  | 'late'
  /** The server receives it, and is unreachable from then on. */
  | 'last';

/** The treatment of other messages. */
export type Wire =
  | 'open'
  /** Nothing arrives, and no connection is closed, as when a machine leaves the network. Messages arrive when it is back. */
  | 'dead'
  /** Nothing arrives on existing connections, permanently. New connections work. */
  | 'lost'
  /** Every message is delayed by this number of milliseconds. */
  | { readonly slow: number };

/** A running proxy. */
export interface PostgresProxy {
  /** Address of the server through the proxy. */
  readonly url: string;
  /** Cuts the connection that sends the next COMMIT. */
  cut(how: Cut): void;
  /** Sets how messages are treated from now on, also on existing connections. */
  set(wire: Wire): void;
  /** Number of connections cut so far. */
  readonly cuts: number;
  /** Delivers held messages. */
  deliver(): void;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('COMMIT\0');
const ROLLBACK = Buffer.from('ROLLBACK\0');
/** Length of the message header: type and length. */
const HEAD = 5;

/** Starts a proxy on a free port. */
export async function startProxy(server: string): Promise<PostgresProxy> {
  const target = new URL(server);
  const sockets = new Set<Socket>();
  let [next, cuts]: [Cut | undefined, number] = [undefined, 0];
  const line = createLine();
  let deliver = (): void => undefined;
  let isDown = false;

  const listener = createServer((client) => {
    if (isDown) return void client.resetAndDestroy();
    const upstream = createConnection({ host: target.hostname, port: Number(target.port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Closes both sides together, unless one is cut on purpose.
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    const end = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    upstream.on('data', line.to(client));
    const send = line.to(upstream);
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.on('data', (data) => {
      const at = data.indexOf(COMMIT);
      const how = next;
      if (how === undefined || at < 0) return send(data);
      next = undefined;
      cuts++;
      upstream.removeAllListeners('data');
      client.removeAllListeners('close');
      upstream.write(data.subarray(0, at - HEAD));
      if (how === 'before') return end();
      const rest = data.subarray(at - HEAD);
      if (how === 'late') {
        client.resetAndDestroy();
        deliver = () => void upstream.end(rest);
        upstream.resume();
        return;
      }
      upstream.write(rest);
      isDown = how === 'last';
      let answers = Buffer.alloc(0);
      upstream.on('data', (answer) => {
        // A tag can arrive in two pieces. A COMMIT of a failed transaction is answered with ROLLBACK.
        answers = Buffer.concat([answers.subarray(-ROLLBACK.length), answer]);
        if (answers.includes(COMMIT) || answers.includes(ROLLBACK)) end();
      });
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  const url = new URL(server);
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url: url.href,
    cut(how) {
      next = how;
    },
    set: line.set,
    get cuts() {
      return cuts;
    },
    deliver: () => deliver(),
    async close() {
      line.set('open');
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** A queue that all messages of a direction pass in order. */
interface Line {
  set(wire: Wire): void;
  /** Creates the queue of a socket. */
  to(socket: Socket): (data: Buffer) => void;
}

function createLine(): Line {
  let wire: Wire = 'open';
  let open = Promise.withResolvers<void>();
  let losses = 0;
  open.resolve();
  return {
    set(other) {
      wire = other;
      if (wire === 'lost') losses++;
      if (wire === 'dead') open = Promise.withResolvers<void>();
      else open.resolve();
    },
    to(socket) {
      const connectedAfter = losses;
      let last = Promise.resolve();
      return (data) => {
        if (losses > connectedAfter) return;
        const slow = typeof wire === 'object' ? wire.slow : 0;
        last = last
          .then(() => open.promise)
          .then(() => (slow === 0 ? undefined : new Promise<void>((resolve) => setTimeout(resolve, slow))))
          .then(() => void socket.write(data));
      };
    },
  };
}
