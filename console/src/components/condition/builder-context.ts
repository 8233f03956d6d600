import { createContext, useContext } from 'react';
import type { Issue } from '../../api/problem.ts';
import type { ValidationProgress } from '../useEmptyMistake.ts';
import type { Catalogue, PathOption } from './condition-paths.ts';

/** The definitions that a builder offers, and the mistakes that it shows. */
export interface Builder {
  readonly catalogue: Catalogue;
  /** The resource of the rule; `*` for all. */
  readonly resource: string;
  /** The paths that conditions can read here, first those of the enclosing conditions on related records. */
  readonly options: readonly PathOption[];
  /** The aliases of the enclosing conditions on related records, the outermost first. */
  readonly aliases: readonly string[];
  readonly issues: readonly Issue[];
  readonly progress: ValidationProgress;
  readonly hasExpressions: boolean;
}

/** The context from which the components of a builder read it. */
export const BuilderContext: React.Context<Builder | undefined> = createContext<Builder | undefined>(undefined);

/** Returns the builder of the component. */
export function useBuilder(): Builder {
  const builder = useContext(BuilderContext);
  if (builder === undefined) throw new Error('the component is outside of a builder');
  return builder;
}

/** Returns the mistakes of a member and of its own members, as one text; undefined if there are none. */
export function mistakesAt(issues: readonly Issue[], at: string): string | undefined {
  const own = issues.filter(({ path }) => path === at || path.startsWith(`${at}.`));
  return own.length === 0 ? undefined : own.map(({ detail }) => detail).join('; ');
}

/** Returns the mistakes of exactly this member. */
export function mistakesOf(issues: readonly Issue[], at: string): string | undefined {
  const own = issues.filter(({ path }) => path === at);
  return own.length === 0 ? undefined : own.map(({ detail }) => detail).join('; ');
}

/** Returns the mistakes of a member itself, and of its own members that have no field in the form. */
export function otherMistakesAt(issues: readonly Issue[], at: string, known: readonly string[]): string | undefined {
  const others = issues.filter(({ path }) => {
    if (path === at) return true;
    const [name = ''] = path.startsWith(`${at}.`) ? path.slice(at.length + 1).split('.') : [];
    return name !== '' && !known.includes(name);
  });
  return others.length === 0 ? undefined : others.map(({ detail }) => detail).join('; ');
}
