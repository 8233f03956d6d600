import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { isLost, RequestError } from '../../api/problem.ts';
import { commonTexts } from '../../texts/common.ts';
import { dataTexts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';
import { LeaveGuard } from '../LeaveGuard.tsx';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { FieldInput } from './FieldInput.tsx';
import { changedValues, createdValues, toTypedValue } from './form-values.ts';
import { SAVING } from './useIsSaving.ts';
import type { ValueKeeper } from './useKeptValues.ts';
import type { RecordEditor } from './useRecordEditor.ts';
import { useReturnedFocus } from './useReturnedFocus.ts';

/** Properties of the form of a record. */
interface RecordFormProps {
  readonly editor: RecordEditor;
  readonly keeper: ValueKeeper;
  readonly submit: string;
  /** The reason why the record cannot be changed; undefined if it can. */
  readonly refusal?: string | undefined;
  /** Sends the changed values. Resolves with false if they are not saved yet. */
  save(values: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Link to the records, among which a new record is if the answer to its creation was lost. */
  readonly records?: ReactNode;
  /** Leaves the form without a change. Absent on the screen of a record, which has nothing to leave. */
  onCancel?(): void;
}

/** The fields of a record, each with the control of its type. Only changed fields are sent. A refused value is marked at its field. */
export function RecordForm({ editor, keeper, submit, refusal, save, records, onCancel }: RecordFormProps) {
  const { fields, base, before, values, isDirty, change } = editor;
  const isNew = base === undefined;
  const [mistakes, setMistakes] = useState<Readonly<Record<string, string>>>({});
  const changed = isNew ? createdValues(fields, before, values) : changedValues(fields, before, values);
  const {
    mutate,
    error,
    isPending,
    data: isSaved = false,
  } = useMutation({
    mutationKey: SAVING,
    mutationFn: () => save(changed.values),
    onSuccess: (isStored) => isStored && keeper.discard(),
    onError: (failure) => setMistakes(mistakesOf(failure)),
  });
  useReturnedFocus(isPending);
  // A repetition could create the record twice.
  const isUnknown = isNew && isLost(error);
  const send = (): void => {
    setMistakes(changed.mistakes);
    if (Object.keys(changed.mistakes).length === 0) mutate();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Stack gap="sm" maw={720}>
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            isNew={isNew}
            // The stored values replace those of the form.
            disabled={refusal !== undefined || isPending}
            value={values[field.name] ?? null}
            mistake={mistakes[field.name]}
            onChange={(value) => change({ [field.name]: toTypedValue(field, value) })}
          />
        ))}
        {!keeper.isKeeping && <Text size="sm">{dataTexts.kept.tooLarge}</Text>}
        {/* Beside the button, which may be far from the title. */}
        {error !== null && <ProblemAlert error={error} onRepeat={isUnknown ? undefined : send} />}
        {isUnknown && records}
        {refusal === undefined ? (
          <Group>
            <Button type="submit" loading={isPending} disabled={!isNew && !isDirty}>
              {submit}
            </Button>
            {onCancel !== undefined && (
              <Button variant="default" disabled={isPending} onClick={onCancel}>
                {commonTexts.cancel}
              </Button>
            )}
          </Group>
        ) : (
          isolateNames(refusal)
        )}
      </Stack>
      <LeaveGuard isDirty={isDirty && !(isNew && isSaved)} onLeave={keeper.discard} />
    </form>
  );
}

/** Returns the mistakes of a refused request by field. */
function mistakesOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof RequestError)) return {};
  return Object.fromEntries((error.problem.errors ?? []).map(({ path, detail }) => [path.split('.')[0] ?? path, isolateNames(detail)]));
}
