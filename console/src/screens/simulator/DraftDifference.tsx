import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type AccessTest, accessTestQuery } from '../../components/decision/AccessAnswer.tsx';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { compareOutcomes } from './compare-outcomes.ts';

const COLORS = { same: 'gray', allows: 'orange', denies: 'red', condition: 'yellow', rule: 'blue' } as const;

/** The difference that the draft makes to the decision, in one sentence. */
export function DraftDifference({ live, drafted }: { readonly live: AccessTest; readonly drafted: AccessTest }) {
  const [before, after] = [useQuery(accessTestQuery(live)).data?.data, useQuery(accessTestQuery(drafted)).data?.data];
  if (before === undefined || after === undefined) return null;
  const difference = compareOutcomes(before, after);
  return (
    <Alert color={COLORS[difference]} role="status">
      {texts.difference[difference]}
    </Alert>
  );
}
