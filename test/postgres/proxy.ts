/** Between a client and a PostgreSQL server: hands on what both say, late or never, until it is told to cut them off at the next COMMIT. */
import { createConnection, createServer, type Socket } from 'node:net';

/** What becomes of the next COMMIT. */
export type Cut =
  /** It never reaches the server. */
  | 'before'
  /** The server has done it, and the client never hears of it. */
  | 'after'
  /** The client is cut off at once; the server gets it when `deliver` is called. */
  | 'late'
  /** The server gets it, and from then on nobody reaches the server. */
  | 'last';

/** What becomes of everything else. */
export type Wire =
  | 'open'
  /** Nothing arrives any more, and nobody is told: as when a machine is gone from the network. What was sent arrives when it is back. */
  | 'dead'
  /** Nothing arrives any more on what is connected, for good; whoever connects anew is heard. */
  | 'lost'
  /** Everything arrives so many milliseconds later. */
  | { readonly slow: number };

/** A proxy of a server. */
export interface PostgresProxy {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  /** Cuts off whoever sends COMMIT next. */
  cut(how: Cut): void;
  /** Says how the wire is from now on, for those that are connected already, too. */
  set(wire: Wire): void;
  /** How many have been cut off. */
  readonly cuts: number;
  /** Hands on what has been held back. */
  deliver(): void;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('COMMIT\0');
/** Type and length stand before the text of a query. */
const HEAD = 5;

/** Starts one on a free port. */
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
      // Whatever happens to one side happens to the other, unless that is cut off on purpose.
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
      upstream.on('data', (answer) => (answer.includes(COMMIT) ? end() : undefined));
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

/** What everything passes, in order. */
interface Line {
  set(wire: Wire): void;
  /** What hands on to a socket. */
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
