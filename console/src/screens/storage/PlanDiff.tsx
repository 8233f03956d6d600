import { Card, Text } from '@mantine/core';
import { storageTexts as texts } from '../../texts/service.ts';
import { MARKS, MigrationStep } from './MigrationStep.tsx';
import classes from './PlanDiff.module.css';
import { type Step, toResourceChanges } from './plan-changes.ts';

/** The steps of a plan as a diff of the tables: one card for each resource, one line for each step. */
export function PlanDiff({ steps }: { readonly steps: readonly Step[] }) {
  return toResourceChanges(steps).map(({ resource, change, steps: own }) => (
    <Card key={resource} withBorder padding={0} component="section" aria-label={resource}>
      <Text className={classes['head'] ?? ''} data-change={change}>
        <span aria-hidden="true">{MARKS[change]} </span>
        {resource}
        <Text span size="sm" fw={400}>
          {' · '}
          {texts.changes[change]}
        </Text>
      </Text>
      <ul className={classes['lines'] ?? ''}>
        {own.map((step) => (
          <MigrationStep key={`${step.field} ${step.kind} ${step.reason}`} step={step} />
        ))}
      </ul>
    </Card>
  ));
}
