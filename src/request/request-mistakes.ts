import { didYouMean, type Issue, Problem, type ProblemCode } from '../errors.ts';

/** Collects the mistakes of a request, so that one response lists all of them. */
export interface Mistakes {
  add(path: string, code: MistakeCode, detail: string): void;
  /** Adds a mistake for every given name that is not in `known`. `kind` describes the names, for example "query parameter". */
  addUnknown(given: Iterable<string>, known: readonly string[], kind: string): void;
  /** Throws a Problem that lists the mistakes, if there are any. */
  throwIfAny(): void;
}

/** The kinds of mistakes in the shape of a request. */
export type MistakeCode = 'unknown' | 'required' | 'type' | 'range' | 'tooMany' | 'duplicate' | 'conflict' | 'enum' | 'tooLong';

/** Maximum number of listed mistakes. Without a limit, a large body could cause a large response. */
const MAX_LISTED = 100;

/** Maximum number of characters of a client's name that a message repeats. */
const MAX_NAME = 64;

/** Creates an empty collection of mistakes. The problem that it throws has this code. */
export function createMistakes(code: ProblemCode): Mistakes {
  const issues: Issue[] = [];
  const isFull = (): boolean => issues.length >= MAX_LISTED;
  return {
    add(path, mistake, detail) {
      if (!isFull()) issues.push({ path, code: mistake, detail });
    },
    addUnknown(given, known, kind) {
      for (const name of given) {
        if (isFull()) return;
        if (!known.includes(name)) issues.push(toUnknown(name, known, kind));
      }
    },
    throwIfAny() {
      if (issues.length > 0) throw new Problem(code, toSummary(issues, isFull()), { errors: issues });
    },
  };
}

function toUnknown(name: string, known: readonly string[], kind: string): Issue {
  const path = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
  const expected = known.length === 0 ? 'none is expected here' : `expected ${known.join(', ')}`;
  return { path, code: 'unknown', detail: `unknown ${kind} "${path}"${didYouMean(name, known)}, ${expected}` };
}

function toSummary(issues: readonly Issue[], full: boolean): string {
  const [first, ...others] = issues;
  if (first === undefined || others.length > 0) return `the request has ${full ? 'at least ' : ''}${issues.length} mistakes`;
  return first.path === '' || first.code === 'unknown' ? first.detail : `${first.path}: ${first.detail}`;
}
