import { Problem } from '../errors.ts';
import type { SignalSource, StopSignal } from './world.ts';

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
