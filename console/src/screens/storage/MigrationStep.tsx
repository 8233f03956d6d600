import { Badge, Code, Group, Text } from '@mantine/core';
import { PolicyLink } from '../../components/PolicyLink.tsx';
import { sentence } from '../../texts/sentence.ts';
import { storageTexts as texts } from '../../texts/service.ts';
import classes from './PlanDiff.module.css';
import { changeOf, partOf, type Step } from './plan-changes.ts';

const COLORS = { safe: 'green', 'needs-backfill': 'blue', lossy: 'orange', destructive: 'red', blocked: 'red' } as const;

/** The mark of a change, as in a diff of text. */
export const MARKS = { added: '+', removed: '−', changed: '~', kept: '=' } as const;

/** A risk level as a badge. */
export function RiskBadge({ risk }: { readonly risk: keyof typeof COLORS }) {
  return (
    <Badge color={COLORS[risk]} style={{ flexShrink: 0 }}>
      {texts.risks[risk]}
    </Badge>
  );
}

/** A step of a migration as a line of a diff: what it changes, its risk, its SQL, and the rules that use the field. */
export function MigrationStep({ step }: { readonly step: Step }) {
  const { field, from, kind, reason, risk, rows, sql, rules = [] } = step;
  const change = changeOf(step);
  return (
    <li className={classes['line']} data-change={change}>
      <Group gap="xs">
        <Text span ff="monospace" fw={700} aria-hidden="true">
          {MARKS[change]}
        </Text>
        <Text span ff="monospace" size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {field ?? texts.parts[partOf(step)]}
          {from !== undefined && ` ← ${from}`}
        </Text>
        <RiskBadge risk={risk} />
        <Code>{kind}</Code>
        {rows !== undefined && <Text size="sm">{texts.rows(rows)}</Text>}
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {reason}
      </Text>
      {rules.length > 0 && (
        // The links are no part of a text, in which they would need an underline.
        <Group gap="xs">
          <Text size="sm">{texts.rules}:</Text>
          {rules.map(({ policyId, policy, ruleId, rule }) => (
            <PolicyLink key={ruleId} id={policyId} rule={ruleId} size="sm">
              {sentence`${policy}, ${rule}`}
            </PolicyLink>
          ))}
        </Group>
      )}
      {sql.length > 0 && (
        <details>
          <summary>{texts.sql}</summary>
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {sql.join(';\n')}
          </Code>
        </details>
      )}
    </li>
  );
}
