import { Badge, Button, Card, Code, Group, Stack, Text } from '@mantine/core';
import { useEffect, useMemo, useRef } from 'react';
import { isRecord } from '../../components/condition/condition-json.ts';
import { mistakesAt } from '../../components/condition/condition-mistakes.ts';
import { pathsFor } from '../../components/condition/condition-paths.ts';
import { referencesInConditions } from '../../components/condition/condition-references.ts';
import { describeConditions } from '../../components/condition/condition-sentences.ts';
import { LazyPart } from '../../components/LazyPart.tsx';
import { useRecordNames } from '../../components/record-names.ts';
import { WarningBadge } from '../../components/WarningBadge.tsx';
import { policyTexts } from '../../texts/policy.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { DEFAULT_PRIORITY, type DraftJson, numberOf, textOf } from './policy-draft.ts';
import { ruleForm } from './policy-parts.ts';
import type { DraftTabProps } from './RulesTab.tsx';

const texts = policyTexts.rules;

/** Properties of a rule. */
export interface RuleCardProps extends Omit<DraftTabProps, 'onChange'> {
  readonly rule: unknown;
  readonly index: number;
  readonly isEdited: boolean;
  /** True if the URL names the rule, or it was just added. */
  readonly isShown: boolean;
  /** True if the rule was just added: its form receives the focus. */
  readonly isNew: boolean;
  onEdit(isEdited: boolean): void;
  onRule(rule: DraftJson): void;
  onRemove(): void;
  onDuplicate(copy: DraftJson): void;
}

/** A rule as a sentence; while it is edited, its form. */
export function RuleCard(props: RuleCardProps) {
  const { rule, index, isEdited, isShown, validation, onEdit } = props;
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isShown) card.current?.scrollIntoView({ block: 'center' });
  }, [isShown]);
  const at = `rules.${index}`;
  if (!isRecord(rule)) return <UnreadableRule rule={rule} />;
  const mistake = mistakesAt(validation.result?.errors ?? [], at);
  return (
    <Card ref={card} withBorder padding="sm" data-path={at}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <RuleSummary {...props} rule={rule} />
          <Button size="xs" variant="default" flex="0 0 auto" aria-expanded={isEdited} onClick={() => onEdit(!isEdited)}>
            {isEdited ? texts.done : texts.edit}
          </Button>
        </Group>
        {mistake !== undefined && !isEdited && (
          <Text size="sm" c="var(--mantine-color-error)">
            {mistake}
          </Text>
        )}
        <RuleFindings at={at} validation={validation} />
        {isEdited && <LazyPart part={ruleForm} props={{ ...props, rule, at }} lines={6} />}
      </Stack>
    </Card>
  );
}

function RuleSummary({ rule, catalogue }: Pick<RuleCardProps, 'catalogue'> & { readonly rule: DraftJson }) {
  const effect = textOf(rule, 'effect') === 'DENY' ? 'DENY' : 'ALLOW';
  const action = textOf(rule, 'action');
  const resource = textOf(rule, 'resource');
  const conditions = Array.isArray(rule['conditions']) ? rule['conditions'] : [];
  const priority = numberOf(rule, 'priority', DEFAULT_PRIORITY);
  const options = useMemo(() => pathsFor(catalogue, resource), [catalogue, resource]);
  const names = useRecordNames(referencesInConditions(conditions, catalogue, options));
  return (
    <Stack gap={4} style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
      <Group gap="xs">
        <Badge color={effect === 'DENY' ? 'red' : 'green'} leftSection={<span aria-hidden="true">{effect === 'DENY' ? '✕' : '✓'}</span>}>
          {effect}
        </Badge>
        <Text fw={600}>
          {texts.sentence(action === '*' ? texts.every.action : action, resource === '*' ? texts.every.resource : resource)}
        </Text>
        {rule['isActive'] === false && <Badge color="gray">{policyTexts.inactive}</Badge>}
        <Text size="xs" c="dimmed">
          {texts.priority} {priority}
        </Text>
      </Group>
      <Text size="sm">
        {conditions.length > 0 && texts.when} {describeConditions(conditions, { operators: catalogue.operators, names })}
      </Text>
      {textOf(rule, 'description') !== '' && (
        <Text size="xs" c="dimmed">
          {textOf(rule, 'description')}
        </Text>
      )}
    </Stack>
  );
}

function RuleFindings({ at, validation }: Pick<RuleCardProps, 'validation'> & { readonly at: string }) {
  const own = (validation.result?.warnings ?? []).filter(({ path }) => path === at || path?.startsWith(`${at}.`));
  return own.map(({ code, detail, todo, path }) => (
    <Text key={`${code} ${path}`} size="sm" component="div">
      <WarningBadge>{code}</WarningBadge> {isolateNames(detail)}: {isolateNames(todo)}
    </Text>
  ));
}

function UnreadableRule({ rule }: { readonly rule: unknown }) {
  return (
    <Card withBorder padding="sm">
      <Text size="sm">{texts.raw}</Text>
      <Code block>{JSON.stringify(rule)}</Code>
    </Card>
  );
}
