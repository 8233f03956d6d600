import { Problem } from '../errors.ts';
import type { CliContext, RestartSignal, SignalSource, StopSignal } from './cli-context.ts';

/** The requests to stop a serving process. */
export interface StopRequests {
  /** Resolves when the process must stop. `isReplaced` is true if another worker takes its place. */
  readonly first: Promise<{ readonly isReplaced: boolean }>;
  /** Resolves on a further signal, when the process must stop at once. */
  readonly second: Promise<void>;
  stopListening(): void;
}

/** Milliseconds within which a second signal is ignored as a repetition: npm forwards a Ctrl-C that also reaches this process directly. */
const SAME_SIGNAL = 500;

const STOP: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];
const RESTART: RestartSignal = 'SIGUSR2';

/** Listens to process signals and, in a worker, to messages of the primary. */
export function listenToSignals({ signals, primary }: CliContext, onRestart: () => void): StopRequests {
  const first = Promise.withResolvers<{ readonly isReplaced: boolean }>();
  const stops = listenToStops(signals, () => first.resolve({ isReplaced: false }));
  // A message of the primary does not resolve `second`: Ctrl-C reaches all processes of a terminal, and the primary then ends its workers too.
  primary?.onEnd((end) => first.resolve(end));
  signals.on(RESTART, onRestart);
  const stopListening = (): void => {
    stops.stopListening();
    signals.off(RESTART, onRestart);
  };
  return { first: first.promise, second: stops.second, stopListening };
}

/** Calls `onFirst` on the first signal to stop, and resolves `second` on a further one that is no repetition of the first. */
function listenToStops(signals: SignalSource, onFirst: () => void): Pick<StopRequests, 'second' | 'stopListening'> {
  const second = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      onFirst();
    } else if (now - firstAt > SAME_SIGNAL) second.resolve();
  };
  for (const name of STOP) signals.on(name, onSignal);
  return {
    second: second.promise,
    stopListening() {
      for (const name of STOP) signals.off(name, onSignal);
    },
  };
}

/** An abort signal for a command. A process signal aborts it. */
export interface Interruption {
  /** Aborted by the first process signal; the reason is a Problem. */
  readonly signal: AbortSignal;
  /** Resolves on a further signal, when the command must end at once. */
  readonly second: Promise<void>;
  /** Restores the default effect of process signals. */
  stopListening(): void;
}

/** Listens to process signals, so that an interrupted command can report what it has done before it ends. */
export function createInterruption(signals: SignalSource): Interruption {
  const controller = new AbortController();
  const stops = listenToStops(signals, () => controller.abort(new Problem('REQUEST_MALFORMED', 'the command was interrupted')));
  return { signal: controller.signal, ...stops };
}

/** Runs a command that a signal interrupts; a second signal ends it at once, with exit code 1. */
export async function runInterruptibly({ signals }: CliContext, work: (stop: AbortSignal) => Promise<number>): Promise<number> {
  const interruption = createInterruption(signals);
  try {
    return await Promise.race([work(interruption.signal), interruption.second.then(() => 1)]);
  } finally {
    interruption.stopListening();
  }
}

/** The input of a command, and the signal that aborts its read. */
export interface AbortableInput {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly stop: AbortSignal;
}

/**
 * Runs work that reads the input. Until it begins to read, an abort rejects with its reason: the work can wait for a lock of the database,
 * and has stored nothing. Later, the aborted read ends the work, which reports what it has stored.
 */
export async function withInput<T>({ bytes, stop }: AbortableInput, work: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(stop.reason);
  async function* read(): AsyncGenerator<Uint8Array> {
    stop.removeEventListener('abort', onAbort);
    yield* bytes;
  }
  stop.addEventListener('abort', onAbort);
  if (stop.aborted) onAbort();
  return Promise.race([work(read()), aborted.promise]);
}
