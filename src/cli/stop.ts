import type { CliWorld, RestartSignal, StopSignal } from './world.ts';

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
export function listenToSignals({ signals, lead }: CliWorld, onRestart: () => void): Stop {
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
