import type { EntryTail } from '../api/index.ts';
import { SetupError } from '../errors.ts';
import type { CliCommand, CliContext } from './cli-context.ts';
import { DECISION_FLAGS, printEntry, toFilters } from './decision-flags.ts';
import { findFlag } from './flags.ts';
import { createInterruption } from './signals.ts';

const POLL_MILLISECONDS = 500;
const MAX_LAST = 1000;

/** Follows the audit log. */
export const decisionsTail: CliCommand = {
  name: 'decisions tail',
  summary: 'print the last audit entries, and new ones as they are committed',
  details: 'Prints a line per entry, until it is interrupted or its reader closes the pipe. The service may be running.',
  settings: 'database',
  flags: {
    ...DECISION_FLAGS,
    '--last <number>': `number of earlier entries to print, up to ${MAX_LAST} (default: 10)`,
    '--once': 'end after these entries',
    '--ids': 'print ids in place of the emails of users and the names of records',
    '--json': 'print each entry as a line of JSON',
  },
  async run(context, config, flags) {
    const count = parseCount(findFlag(flags, 'last') ?? '10');
    const log = await context.openDecisions(config);
    const print = async (entries: readonly EntryTail['entries'][number][]): Promise<void> => {
      if (flags.has('json')) for (const entry of entries) context.print(JSON.stringify(entry));
      else {
        const labels = flags.has('ids') || entries.length === 0 ? [] : await log.labels(entries);
        for (const [index, entry] of entries.entries()) context.print(printEntry(entry, labels[index]));
      }
    };
    const { signal, stopListening } = createInterruption(context.signals);
    try {
      const filters = await log.select(toFilters(flags));
      let tail = await log.last(filters, count);
      await print(tail.entries);
      if (tail.entries.length === 0 && count > 0) context.printError('no entry matches');
      const ended = AbortSignal.any([signal, context.outputFailed]);
      while (!flags.has('once')) {
        await waitForPoll(context, ended);
        if (ended.aborted) break;
        tail = await log.after(filters, tail.position);
        await print(tail.entries);
      }
      return 0;
    } finally {
      stopListening();
      await log.close();
    }
  },
};

/** Waits until the lines are written and the next poll is due, or until the signal is aborted. */
async function waitForPoll(context: CliContext, signal: AbortSignal): Promise<void> {
  const [aborted, due] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const onAbort = (): void => aborted.resolve();
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const timer = setTimeout(due.resolve, POLL_MILLISECONDS);
  try {
    // Entries that nothing reads are not loaded, because they would fill the memory.
    await Promise.race([Promise.all([context.flushOutput(), due.promise]), aborted.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function parseCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MAX_LAST) return count;
  throw new SetupError(`--last: expected a number up to ${MAX_LAST}, given ${JSON.stringify(text.slice(0, 40))}`);
}
