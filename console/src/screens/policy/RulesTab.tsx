import { Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Catalogue } from '../../components/condition/condition-paths.ts';
import { createItemKeys, removeAt } from '../../components/condition/list-edits.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { exampleResource } from '../../components/example-resource.ts';
import { policyTexts } from '../../texts/policy.ts';
import { PolicyDetailsForm } from './PolicyDetailsForm.tsx';
import { type DraftJson, inDecisionOrder, rulesOf } from './policy-draft.ts';
import { ruleIndexIn } from './policy-search.ts';
import { RuleCard } from './RuleCard.tsx';
import type { ValidationState } from './useValidation.ts';

const texts = policyTexts.rules;

/** Properties of a tab that edits the draft. */
export interface DraftTabProps {
  readonly draft: DraftJson;
  readonly catalogue: Catalogue;
  readonly validation: ValidationState;
  /** The path of the member to show. */
  readonly at: string | undefined;
  /** Opens the text of the draft. */
  onOpenText(): void;
  onChange(draft: DraftJson): void;
}

/** The rules of a policy in the order of decisions, as forms, and the other members. */
export function RulesTab(props: DraftTabProps) {
  const { draft, catalogue, at, onOpenText, onChange } = props;
  const rules = rulesOf(draft);
  const [edited, setEdited] = useState<ReadonlySet<string>>(new Set());
  const [openedAt, setOpenedAt] = useState<string>();
  const [added, setAdded] = useState<string>();
  const [keys] = useState(createItemKeys);
  const shown = ruleIndexIn(at);
  if (rules === undefined)
    return <EmptyState title={texts.notAList} action={<Button onClick={onOpenText}>{policyTexts.text.open}</Button>} />;
  if (at !== openedAt) {
    // Only once, so that the rule can be closed.
    setOpenedAt(at);
    if (shown !== undefined && shown < rules.length) setEdited(new Set(edited).add(keys.of(rules[shown], shown)));
  }
  const change = (next: readonly unknown[]) => onChange({ ...draft, rules: next });
  const toggle = (key: string, isEdited: boolean) => {
    const next = new Set(edited);
    if (isEdited) next.add(key);
    else next.delete(key);
    setEdited(next);
  };
  const add = () => {
    const resource = exampleResource(catalogue.definitions.map(({ name }) => name)) ?? '*';
    const rule = { resource, action: 'read', effect: 'ALLOW', priority: 100, conditions: [] };
    const key = keys.of(rule, rules.length);
    toggle(key, true);
    setAdded(key);
    change([...rules, rule]);
  };
  return (
    <Stack>
      <PolicyDetailsForm {...props} />
      <Group justify="space-between" align="end">
        <Box flex="1 1 300px">
          <Title order={2} size="h4">
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.order}
          </Text>
        </Box>
        <Button variant="light" onClick={add}>
          {texts.add}
        </Button>
      </Group>
      {rules.length === 0 && <EmptyState {...texts.empty} action={<Button onClick={add}>{texts.addFirst}</Button>} />}
      {inDecisionOrder(rules).map(({ rule, index }) => {
        const key = keys.of(rule, index);
        return (
          <RuleCard
            key={key}
            {...props}
            rule={rule}
            index={index}
            isEdited={edited.has(key)}
            isShown={shown === index || added === key}
            isNew={added === key}
            onEdit={(isEdited) => toggle(key, isEdited)}
            onRule={(next) => change(keys.replaceAt(rules, index, next))}
            onRemove={() => change(removeAt(rules, index))}
            onDuplicate={(copy) => change([...rules, copy])}
          />
        );
      })}
    </Stack>
  );
}
