import { Problem } from '../errors.ts';
import type { CliContext, RestartSignal, SignalSource, StopSignal } from './cli-context.ts';

/** What a process is told from outside while it serves. */
export interface Stop {
  /** Resolves when it is to end, and with whether only because another takes its place. */
  readonly first: Promise<{ readonly isReplaced: boolean }>;
  /** Resolves when it is to end at once: a further signal. */
  readonly second: Promise<void>;
  forget(): void;
}

/** A terminal's Ctrl-C reaches us directly and again through npm: what comes this soon is the same signal. Milliseconds. */
const SAME_SIGNAL = 500;

const STOP: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];
const RESTART: RestartSignal = 'SIGUSR2';

/** Listens to signals, and to the lead where there is one. */
export function listenToSignals({ signals, lead }: CliContext, onRestart: () => void): Stop {
  const first = Promise.withResolvers<{ readonly isReplaced: boolean }>();
  const second = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = (): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      first.resolve({ isReplaced: false });
    } else if (now - firstAt > SAME_SIGNAL) second.resolve();
  };
  // Never a second one: a terminal's Ctrl-C reaches all processes, and then the lead passes it on.
  lead?.onEnd((end) => first.resolve(end));
  for (const name of STOP) signals.on(name, onSignal);
  signals.on(RESTART, onRestart);
  const forget = (): void => {
    for (const name of STOP) signals.off(name, onSignal);
    signals.off(RESTART, onRestart);
  };
  return { first: first.promise, second: second.promise, forget };
}

/** Turns the signals that would end the process into a reason to stop what it does. */
export interface Interruption {
  /** Aborted by the first signal, with the Problem that whoever reads on is to get. */
  readonly signal: AbortSignal;
  /** Leaves signals to the process again. */
  forget(): void;
}

const NAMES: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

/** Listens for signals: a command that is stopped so says what it has done, where the process would die without a word. */
export function createInterruption(signals: SignalSource): Interruption {
  const controller = new AbortController();
  const onSignal = (): void => controller.abort(new Problem('REQUEST_MALFORMED', 'it was interrupted'));
  for (const name of NAMES) signals.on(name, onSignal);
  return {
    signal: controller.signal,
    forget() {
      for (const name of NAMES) signals.off(name, onSignal);
    },
  };
}
