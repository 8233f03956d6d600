import { Alert, List, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { PolicyLink } from '../PolicyLink.tsx';
import { describeUnmet } from './condition-words.ts';
import { useTraceVocabulary } from './trace-vocabulary.ts';

const texts = decisionsTexts.nearMiss;

/** The rules that would have allowed a denied request, with the conditions that were not met. */
export function NearMisses({ rules }: { readonly rules: readonly Schemas['admin.NearbyRule'][] }) {
  const vocabulary = useTraceVocabulary();
  if (rules.length === 0) return null;
  return (
    <Alert color="blue" title={texts.title}>
      <Stack gap="sm">
        {rules.map(({ policy, rule, unmet, overruledBy }) => (
          <div key={rule.id}>
            <Text size="sm" fw={600}>
              {texts.away(unmet.length)}
              {': '}
              <PolicyLink id={policy.id} rule={rule.id} size="sm">
                {rule.description ?? policy.name}
              </PolicyLink>
              {rule.description !== undefined && (
                <Text span size="sm" fw={400}>
                  {texts.of(policy.name)}
                </Text>
              )}
            </Text>
            <List size="sm">
              {unmet.map((trace) => (
                <List.Item key={JSON.stringify(trace)} style={{ overflowWrap: 'anywhere' }}>
                  {describeUnmet(trace, vocabulary)}
                </List.Item>
              ))}
            </List>
            {overruledBy && <Text size="sm">{texts.overruled(overruledBy.policy.name)}</Text>}
          </div>
        ))}
      </Stack>
    </Alert>
  );
}
