import { Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { overviewTexts } from '../../texts/overview.ts';
import { sentence } from '../../texts/sentence.ts';

const texts = overviewTexts.neverMatched;
const SHOWN = 10;

/** Active rules of assigned policies that decided no request: superfluous, or wrong. */
export function NeverMatched({ neverMatched }: { readonly neverMatched: Schemas['admin.Analytics']['neverMatched'] }) {
  if (neverMatched === undefined || neverMatched.total === 0) return <Text c="dimmed">{texts.none}</Text>;
  const { rules, total } = neverMatched;
  return (
    <Stack gap={6}>
      {rules.slice(0, SHOWN).map(({ ruleId, policyId, policy, action, resource, description }) => (
        <PolicyLink key={ruleId} id={policyId} rule={ruleId} size="sm" truncate>
          {sentence`${policy} · ${description ?? `${action} ${resource}`}`}
        </PolicyLink>
      ))}
      {total > SHOWN && (
        <Text size="sm" c="dimmed">
          {texts.more(total - Math.min(SHOWN, rules.length))}
        </Text>
      )}
    </Stack>
  );
}
