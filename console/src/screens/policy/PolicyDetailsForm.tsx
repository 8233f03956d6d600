import { Card, Group, NativeSelect, TextInput } from '@mantine/core';
import { mistakesAt } from '../../components/condition/condition-mistakes.ts';
import { TagField } from '../../components/TagField.tsx';
import { useEmptyMistake } from '../../components/useEmptyMistake.ts';
import { policiesTexts } from '../../texts/policies.ts';
import { policyTexts } from '../../texts/policy.ts';
import { PriorityFields } from './PriorityFields.tsx';
import { textOf, withText } from './policy-draft.ts';
import type { DraftTabProps } from './RulesTab.tsx';

const texts = policyTexts.details;

/** The members of a policy without its rules. */
export function PolicyDetailsForm({ draft, catalogue, validation, onChange }: DraftTabProps) {
  const set = (name: string, value: unknown) => onChange({ ...draft, [name]: value });
  const errorOf = (name: string) => mistakesAt(validation.result?.errors ?? [], name);
  const name = textOf(draft, 'name');
  const nameMistake = useEmptyMistake({ isEmpty: name === '', mistake: errorOf('name'), words: texts.emptyName, progress: validation });
  const tags = Array.isArray(draft['tags']) ? draft['tags'].map(String) : [];
  return (
    <Card withBorder padding="sm">
      <Group align="flex-start">
        <TextInput
          label={texts.name}
          required
          flex="2 1 220px"
          value={name}
          {...nameMistake}
          onChange={({ currentTarget }) => set('name', currentTarget.value)}
        />
        <NativeSelect
          label={texts.type}
          description={texts.typeHelp}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          flex="1 1 170px"
          data={catalogue.policyTypes.map((value) => ({ value, label: policiesTexts.types[value] }))}
          value={textOf(draft, 'type')}
          error={errorOf('type')}
          onChange={({ currentTarget }) => set('type', currentTarget.value)}
        />
        <PriorityFields of={draft} texts={texts} error={errorOf('priority')} onChange={set} />
        <TextInput
          label={texts.description}
          flex="1 1 100%"
          value={textOf(draft, 'description')}
          error={errorOf('description')}
          onChange={({ currentTarget }) => onChange(withText(draft, 'description', currentTarget.value))}
        />
        <TagField label={texts.tags} flex="1 1 100%" value={tags} error={errorOf('tags')} onChange={(next) => set('tags', next)} />
      </Group>
    </Card>
  );
}
