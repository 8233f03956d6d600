import { Badge, Card, Code, Group, Spoiler, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { sentence } from '../../texts/sentence.ts';
import { storageTexts as texts } from '../../texts/service.ts';

const COLORS = { safe: 'green', 'needs-backfill': 'blue', lossy: 'orange', destructive: 'red', blocked: 'red' } as const;

/** A risk level as a badge. */
export function RiskBadge({ risk }: { readonly risk: keyof typeof COLORS }) {
  return <Badge color={COLORS[risk]}>{texts.risks[risk]}</Badge>;
}

/** A step of a migration: what it does, its risk, its SQL, and the rules that use the field. */
export function MigrationStep({
  step: { resource, field, from, kind, reason, risk, rows, sql, rules = [] },
}: {
  readonly step: Schemas['admin.StorageStep'];
}) {
  return (
    <Card withBorder padding="sm">
      <Group gap="xs" mb={4}>
        <RiskBadge risk={risk} />
        <Text fw={600}>
          {resource}
          {field !== undefined && `.${field}`}
          {from !== undefined && ` ← ${from}`}
        </Text>
        <Code>{kind}</Code>
        {rows !== undefined && (
          <Text size="sm" c="dimmed">
            {texts.rows(rows)}
          </Text>
        )}
      </Group>
      <Text size="sm">{reason}</Text>
      {sql.length > 0 && (
        <Spoiler maxHeight={110} showLabel={texts.sql} hideLabel={texts.sql} mt="xs">
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {sql.join(';\n')}
          </Code>
        </Spoiler>
      )}
      {rules.length > 0 && (
        <Text size="sm" mt="xs">
          {texts.rules}:{' '}
          {rules.map(({ policyId, policy, ruleId, rule }) => (
            <PolicyLink key={ruleId} id={policyId} rule={ruleId} size="sm">
              {sentence`${policy}, ${rule} `}
            </PolicyLink>
          ))}
        </Text>
      )}
    </Card>
  );
}
