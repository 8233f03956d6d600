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
