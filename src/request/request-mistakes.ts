import { didYouMean, type Issue, Problem, type ProblemCode } from '../errors.ts';

/** Mistakes found while a request is read: collected, so that the caller hears of all of them at once. */
export interface Mistakes {
  add(path: string, code: MistakeCode, detail: string): void;
  /** Notes every name that is not among the known ones. `what` is what a name is called: "query parameter". */
  checkNames(given: Iterable<string>, known: readonly string[], what: string): void;
  /** Throws one Problem where there are any. */
  refuse(): void;
}

/** What kinds of mistake a request's shape can have. */
export type MistakeCode = 'unknown' | 'required' | 'type' | 'range' | 'count' | 'duplicate';

/** Mistakes listed at most: a body can be made of nothing else. */
const MAX_LISTED = 100;

/** Names from outside are repeated in messages up to this length. */
const MAX_SHOWN = 64;

/** An empty collection of mistakes, to be thrown under one code. */
export function createMistakes(code: ProblemCode): Mistakes {
  const issues: Issue[] = [];
  const isFull = (): boolean => issues.length >= MAX_LISTED;
  return {
    add(path, kind, detail) {
      if (!isFull()) issues.push({ path, code: kind, detail });
    },
    checkNames(given, known, what) {
      for (const name of given) {
        if (isFull()) return;
        if (!known.includes(name)) issues.push(toUnknown(name, known, what));
      }
    },
    refuse() {
      if (issues.length > 0) throw new Problem(code, summaryOf(issues, isFull()), { errors: issues });
    },
  };
}

function toUnknown(name: string, known: readonly string[], what: string): Issue {
  const path = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  const expected = known.length === 0 ? 'none is expected here' : `expected ${known.join(', ')}`;
  return { path, code: 'unknown', detail: `unknown ${what} "${path}"${didYouMean(name, known)}, ${expected}` };
}

function summaryOf(issues: readonly Issue[], full: boolean): string {
  const [first, ...others] = issues;
  if (first === undefined || others.length > 0) return `the request has ${full ? 'at least ' : ''}${issues.length} mistakes`;
  return first.path === '' || first.code === 'unknown' ? first.detail : `${first.path}: ${first.detail}`;
}
