/**
 * Several processes of one service on one machine, which share its port: one of them, the lead, serves nobody, and sees to it that
 * there are as many workers as there are to be.
 *
 * A worker is the service as it is anywhere; that it is one of several shows nowhere but here and where it is started. The lead must
 * never touch what workers keep: they meet in the database, like replicas on other machines.
 *
 * Begin with `lead.ts`; `crew.ts` is who comes and goes, `fork.ts` makes processes of it, `listener.ts` closes the port at the end,
 * `channel.ts` is how they speak, `link.ts` what a worker has of it.
 */
export { createPrimary, type Primary, type PrimaryOptions } from './primary.ts';
export { connectToPrimary, type PrimaryLink, type WorkerAnswers } from './worker-ipc.ts';
