/** Requests without a pause, so many in flight at each replica; whoever judges looks at what was answered. */
import type { Program, Reply } from '../process/program.ts';
import type { Fleet } from './fleet.ts';

/** Goes on until it is told to stop. */
export interface Load {
  /** Resolves once no request is in flight any more. */
  stop(): Promise<void>;
}

/** Sends one request after the other to a replica; the index says which of those in flight at it this is. */
export type Asking = (replica: Program, index: number) => Promise<Reply | undefined>;

/** Begins at every replica. Where one is gone, what asks it waits until there is another in its place. */
export function beginLoad(fleet: Pick<Fleet, 'replicas'>, ask: Asking, inFlight: number): Load {
  let goesOn = true;
  const loops = fleet.replicas.flatMap((_, number) =>
    Array.from({ length: inFlight }, async (__, index) => {
      while (goesOn) {
        const replica = fleet.replicas[number];
        if (replica === undefined) return;
        try {
          await ask(replica, number * inFlight + index);
        } catch (error) {
          if (!isLost(error)) throw error;
          // Nobody is there, or nobody yet.
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }),
  );
  const all = Promise.all(loops);
  // Thrown on by `stop`; until then, nobody waits for it.
  all.catch(() => undefined);
  return {
    async stop() {
      goesOn = false;
      await all;
    },
  };
}

/** Whether the connection ended before the whole of the answer was here: nobody knows what became of the request. */
export function isLost(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError;
}
