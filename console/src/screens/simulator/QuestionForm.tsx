import { Button, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { parseJsonObject } from '../../components/json-objects.ts';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { RecordPicker } from '../../components/RecordPicker.tsx';
import { UserPicker } from '../../components/UserPicker.tsx';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { type SimulatorSearch, validateSimulatorSearch } from './search.ts';
import type { TimeFieldProps } from './TimeField.tsx';

// Most questions are about the present time.
const timeField = createPart<TimeFieldProps>(async () => (await import('./TimeField.tsx')).TimeField);

/** Properties of the question's form. */
interface QuestionFormProps {
  readonly catalogue: Schemas['admin.Catalogue'];
  /** The question of the address. */
  readonly asked: SimulatorSearch;
  onAsk(question: SimulatorSearch): void;
  /** Receives the question in the form after each change. */
  onChange(question: SimulatorSearch): void;
}

/** The form of the question. */
export function QuestionForm({ catalogue, asked, onAsk, onChange }: QuestionFormProps) {
  const [question, setQuestion] = useState<SimulatorSearch>(asked);
  const set = (change: { readonly [Name in keyof SimulatorSearch]: string | undefined }): void => {
    const next = validateSimulatorSearch({ ...question, ...change });
    setQuestion(next);
    onChange(next);
  };
  const resource = catalogue.definitions.find(({ name }) => name === question.resource);
  const hasRecord = resource !== undefined && question.action !== 'create' && question.action !== 'import';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(question);
      }}
    >
      <Stack gap="sm">
        <UserPicker label={texts.user} description={texts.userHelp} value={question.user} onChange={(user) => set({ user })} />
        <Select
          label={texts.action}
          required
          // No rule names it: it is decided as a deletion.
          data={[...catalogue.ruleActions, 'restore']}
          value={question.action ?? null}
          onChange={(action) => set({ action: action ?? undefined, unrecorded: undefined })}
        />
        <Select
          label={texts.resource}
          required
          searchable
          data={catalogue.definitions.map(({ name }) => name)}
          value={question.resource ?? null}
          onChange={(name) => set({ resource: name ?? undefined, id: undefined, unrecorded: undefined })}
        />
        {hasRecord && (
          <RecordPicker
            resource={resource}
            label={texts.record}
            description={texts.recordHelp}
            value={question.id}
            onChange={(id) => set({ id })}
          />
        )}
        <ObjectInput label={texts.data} value={question.data} onChange={(data) => set({ data })} />
        <Overrides roles={catalogue.roles} question={question} onChange={set} />
        <Button type="submit">{texts.submit}</Button>
      </Stack>
    </form>
  );
}

interface OverridesProps {
  readonly roles: readonly string[];
  readonly question: SimulatorSearch;
  onChange(change: { readonly [Name in keyof SimulatorSearch]: string | undefined }): void;
}

function Overrides({ roles, question, onChange }: OverridesProps) {
  const { role, attributes, fields, time, ip } = question;
  const isUsed = [role, attributes, fields, time, ip].some((value) => value !== undefined);
  const [isOpen, setOpen] = useState(isUsed);
  return (
    <>
      <Button
        variant="default"
        justify="space-between"
        rightSection={<span aria-hidden="true">{isOpen ? '▴' : '▾'}</span>}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {texts.more}
      </Button>
      {isOpen && (
        <Stack gap="sm">
          <Select
            label={texts.role}
            clearable
            data={[...roles]}
            value={role ?? null}
            onChange={(next) => onChange({ role: next ?? undefined })}
          />
          <ObjectInput
            label={texts.attributes}
            description={texts.attributesHelp}
            value={attributes}
            onChange={(next) => onChange({ attributes: next })}
          />
          <ObjectInput label={texts.fields} description={texts.fieldsHelp} value={fields} onChange={(next) => onChange({ fields: next })} />
          <LazyPart part={timeField} props={{ time, onChange: (next) => onChange({ time: next }) }} lines={2} />
          <TextInput
            label={texts.ip}
            placeholder="203.0.113.7"
            value={ip ?? ''}
            onChange={({ currentTarget }) => onChange({ ip: currentTarget.value || undefined })}
          />
        </Stack>
      )}
    </>
  );
}

interface ObjectInputProps {
  readonly label: string;
  readonly description?: string;
  readonly value: string | undefined;
  onChange(text: string | undefined): void;
}

/** A field for JSON. It keeps the text as it was typed: another text would move the button below it while it is pressed. */
function ObjectInput({ value, onChange, ...field }: ObjectInputProps) {
  return (
    <Textarea
      {...field}
      autosize
      minRows={2}
      maxRows={10}
      ff="monospace"
      spellCheck={false}
      value={value ?? ''}
      error={parseJsonObject(value) === undefined && texts.json}
      onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
    />
  );
}
