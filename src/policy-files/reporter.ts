import type { Mistake, YamlFile } from '../resources/index.ts';

/** Collects the mistakes of one file. */
export interface Reporter {
  /** At most `MAX_MISTAKES`. */
  readonly mistakes: readonly Mistake[];
  /** Adds a mistake at a member of the file; `on` is `value` by default. */
  report(path: readonly (string | number)[], detail: string, on?: 'key' | 'value'): void;
}

/** Maximum number of mistakes of one file. */
const MAX_MISTAKES = 100;

/** Creates a reporter without mistakes. */
export function createReporter({ file, locate }: YamlFile): Reporter {
  const mistakes: Mistake[] = [];
  return {
    mistakes,
    report(path, detail, on = 'value') {
      if (mistakes.length < MAX_MISTAKES) mistakes.push({ file, ...locate(path, on), path: path.join('.'), detail });
    },
  };
}
