import { useMemo } from 'react';
import type { Issue } from '../../api/problem.ts';
import type { ValidationProgress } from '../useEmptyMistake.ts';
import { BuilderContext } from './builder-context.ts';
import { ConditionList } from './ConditionList.tsx';
import { type Catalogue, pathsFor } from './condition-paths.ts';

/** Properties of a builder. */
interface ConditionBuilderProps {
  readonly catalogue: Catalogue;
  /** The resource of the rule; `*` for all. */
  readonly resource: string;
  readonly conditions: readonly unknown[];
  /** The path of the conditions in the policy, such as `rules.0.conditions`, with which mistakes begin. */
  readonly at: string;
  readonly issues: readonly Issue[];
  readonly progress: ValidationProgress;
  /** True if the policy may contain expressions. */
  readonly hasExpressions: boolean;
  onChange(conditions: readonly unknown[]): void;
}

/** A form for the conditions of a rule, with nested groups. Conditions that it cannot show are kept as JSON. */
export function ConditionBuilder({ conditions, at, onChange, ...given }: ConditionBuilderProps) {
  const { catalogue, resource, issues, hasExpressions } = given;
  const { isStale, isTried } = given.progress;
  const options = useMemo(() => pathsFor(catalogue, resource), [catalogue, resource]);
  const builder = useMemo(
    () => ({ catalogue, resource, options, aliases: [], issues, progress: { isStale, isTried }, hasExpressions }),
    [catalogue, resource, options, issues, isStale, isTried, hasExpressions],
  );
  return (
    <BuilderContext value={builder}>
      <ConditionList conditions={conditions} at={at} onChange={onChange} />
    </BuilderContext>
  );
}
