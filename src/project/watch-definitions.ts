import { watch } from 'node:fs';
import { SetupError } from '../errors.ts';

/** Milliseconds for an editor to finish: saving is often several changes. */
const SETTLE = 150;

/** What editors leave beside a file while they save it. */
const SCRATCH = /^\.|~$/;

/** Calls `reload` after files of the folder changed, one at a time; mistakes are told and leave things as they are. Returns how to stop. */
export function watchDefinitions(folder: string, reload: () => Promise<void>, tell: (line: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const watcher = watch(folder, (_, file) => {
    if (file !== null && SCRATCH.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(reload).catch((error: unknown) => tellMistakes(error, tell));
    }, SETTLE);
  });
  watcher.on('error', (error) => tell(`definitions are no longer followed: ${error.message}`));
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

function tellMistakes(error: unknown, tell: (line: string) => void): void {
  const message = error instanceof Error ? error.message : String(error);
  tell(`definitions stay as they were: ${message}`);
  if (error instanceof SetupError) for (const mistake of error.mistakes) tell(`  ${mistake}`);
}
