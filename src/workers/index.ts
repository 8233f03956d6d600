/**
 * Several processes of one service on one machine, which share a port. The primary serves no requests: it starts the configured number
 * of workers, replaces those that die, and aggregates their metrics and readiness.
 *
 * A worker is an ordinary service; only this folder, `service.ts` and `main.ts` know that it is one of several. The primary must never
 * open the database: workers coordinate through it, like replicas on other machines.
 *
 * Begin with `primary.ts`. `worker-pool.ts` starts and replaces workers, `fork-worker.ts` starts one process, `worker-ipc.ts` has the
 * messages between them, and `listener.ts` closes the port during shutdown.
 */
export { createPrimary, type Primary, type PrimaryOptions } from './primary.ts';
export { connectToPrimary, type PrimaryLink, type WorkerRequestHandlers } from './worker-ipc.ts';
