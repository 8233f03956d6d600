/** A continuous load: a number of requests in flight at each replica. */
import { type Program, pause, type Reply } from '../process/program.ts';
import type { Fleet } from './fleet.ts';

/** A running load. */
export interface Load {
  /** Stops the load; resolves when no request is in flight. */
  stop(): Promise<void>;
}

/** Options of a load. */
export interface LoadOptions {
  /** Requests in flight at each replica. */
  readonly inFlight: number;
  /** Milliseconds between the response to a request and the next request. Without a pause, a replica that starts gets little processor time. */
  readonly pauseMs?: number;
}

/** Sends one request to a replica. The index is the slot of the request in flight. */
export type SendRequest = (replica: Program, index: number) => Promise<Reply | undefined>;

/** Starts the load on every replica. If a replica is gone, its slots wait for the replacement. */
export function beginLoad(fleet: Pick<Fleet, 'replicas'>, ask: SendRequest, { inFlight, pauseMs = 0 }: LoadOptions): Load {
  let goesOn = true;
  const loops = fleet.replicas.flatMap((_, number) =>
    Array.from({ length: inFlight }, async (__, index) => {
      while (goesOn) {
        const replica = fleet.replicas[number];
        if (replica === undefined) return;
        try {
          await ask(replica, number * inFlight + index);
          if (pauseMs > 0) await pause(pauseMs);
        } catch (error) {
          if (!isLost(error)) throw error;
          // The replica is gone, or not started yet.
          await pause(20);
        }
      }
    }),
  );
  const all = Promise.all(loops);
  // `stop` throws the error; until then no code awaits it.
  all.catch(() => undefined);
  return {
    async stop() {
      goesOn = false;
      await all;
    },
  };
}

/** Tells whether the connection ended before the whole response arrived, so that the outcome is unknown. */
export function isLost(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError;
}
