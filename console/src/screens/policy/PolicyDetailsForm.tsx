import { Card, Group, NumberInput, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { mistakesAt } from '../../components/condition/builder-context.ts';
import { policiesTexts } from '../../texts/policies.ts';
import { policyTexts } from '../../texts/policy.ts';
import { DEFAULT_PRIORITY, numberOf, textOf } from './policy-draft.ts';
import { withText } from './RuleForm.tsx';
import type { DraftTabProps } from './RulesTab.tsx';

const texts = policyTexts.details;

/** The members of a policy without its rules. */
export function PolicyDetailsForm({ draft, catalogue, validation, onChange }: DraftTabProps) {
  const set = (name: string, value: unknown) => onChange({ ...draft, [name]: value });
  const errorOf = (name: string) => mistakesAt(validation.result?.errors ?? [], name);
  const tags = Array.isArray(draft['tags']) ? draft['tags'].map(String) : [];
  return (
    <Card withBorder padding="sm">
      <Group align="flex-start">
        <TextInput
          label={texts.name}
          required
          flex="2 1 220px"
          value={textOf(draft, 'name')}
          error={errorOf('name')}
          onChange={({ currentTarget }) => set('name', currentTarget.value)}
        />
        <Select
          label={texts.type}
          description={texts.typeHelp}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          flex="1 1 170px"
          allowDeselect={false}
          data={catalogue.policyTypes.map((value) => ({ value, label: policiesTexts.types[value] }))}
          value={textOf(draft, 'type')}
          error={errorOf('type')}
          onChange={(type) => set('type', type)}
        />
        <NumberInput
          label={texts.priority}
          w={110}
          allowDecimal={false}
          value={numberOf(draft, 'priority', DEFAULT_PRIORITY)}
          error={errorOf('priority')}
          onChange={(value) => typeof value === 'number' && set('priority', value)}
        />
        <Switch
          mt={30}
          label={texts.isActive}
          checked={draft['isActive'] !== false}
          onChange={({ currentTarget }) => set('isActive', currentTarget.checked)}
        />
        <TextInput
          label={texts.description}
          flex="1 1 100%"
          value={textOf(draft, 'description')}
          error={errorOf('description')}
          onChange={({ currentTarget }) => onChange(withText(draft, 'description', currentTarget.value))}
        />
        <TagsInput label={texts.tags} flex="1 1 100%" value={tags} error={errorOf('tags')} onChange={(next) => set('tags', next)} />
      </Group>
    </Card>
  );
}
