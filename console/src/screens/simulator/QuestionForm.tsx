import { Accordion, Button, Group, JsonInput, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { parseJsonObject } from '../../components/json-objects.ts';
import { RecordPicker } from '../../components/RecordPicker.tsx';
import { TimestampField } from '../../components/record-form/TimestampField.tsx';
import { UserPicker } from '../../components/UserPicker.tsx';
import { simulatorTexts as texts } from '../../texts/simulator.ts';
import { ACTIONS, type SimulatorSearch, validateSimulatorSearch } from './search.ts';

/** Properties of the question's form. */
interface QuestionFormProps {
  readonly catalogue: Schemas['admin.Catalogue'];
  /** The question of the address. */
  readonly asked: SimulatorSearch;
  onAsk(question: SimulatorSearch): void;
}

/** The form of the question. */
export function QuestionForm({ catalogue, asked, onAsk }: QuestionFormProps) {
  const [question, setQuestion] = useState<SimulatorSearch>(asked);
  const set = (change: { readonly [Name in keyof SimulatorSearch]: string | undefined }): void =>
    setQuestion((present) => validateSimulatorSearch({ ...present, ...change }));
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
          data={[...ACTIONS]}
          value={question.action ?? null}
          onChange={(action) => set({ action: action ?? undefined })}
        />
        <Select
          label={texts.resource}
          required
          searchable
          data={catalogue.definitions.map(({ name }) => name)}
          value={question.resource ?? null}
          onChange={(name) => set({ resource: name ?? undefined, id: undefined })}
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
  return (
    <Accordion variant="contained" defaultValue={isUsed ? 'more' : null}>
      <Accordion.Item value="more">
        <Accordion.Control>{texts.more}</Accordion.Control>
        <Accordion.Panel>
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
            <ObjectInput label={texts.fields} value={fields} onChange={(next) => onChange({ fields: next })} />
            <TimeField time={time} onChange={(next) => onChange({ time: next })} />
            <TextInput
              label={texts.ip}
              placeholder="203.0.113.7"
              value={ip ?? ''}
              onChange={({ currentTarget }) => onChange({ ip: currentTarget.value || undefined })}
            />
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

interface TimeFieldProps {
  readonly time: string | undefined;
  onChange(time: string | undefined): void;
}

/** The time of the question, and the button that fills in the present time. */
function TimeField({ time, onChange }: TimeFieldProps) {
  const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <TimestampField
        label={texts.time}
        description={texts.timeHelp}
        inputWrapperOrder={['label', 'description', 'input', 'error']}
        flex={1}
        value={time ?? ''}
        onChange={(next) => onChange(next || undefined)}
      />
      <Button variant="default" onClick={() => onChange(now())}>
        {texts.now}
      </Button>
    </Group>
  );
}

interface ObjectInputProps {
  readonly label: string;
  readonly description?: string;
  readonly value: string | undefined;
  onChange(text: string | undefined): void;
}

function ObjectInput({ value, onChange, ...field }: ObjectInputProps) {
  return (
    <JsonInput
      {...field}
      autosize
      minRows={2}
      maxRows={10}
      formatOnBlur
      value={value ?? ''}
      error={parseJsonObject(value) === undefined && texts.json}
      onChange={(text) => onChange(text === '' ? undefined : text)}
    />
  );
}
