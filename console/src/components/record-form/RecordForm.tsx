import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Definition } from '../../api/own-resources.ts';
import { RequestError } from '../../api/problem.ts';
import type { Row } from '../../api/records.ts';
import { LeaveGuard } from '../LeaveGuard.tsx';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { FieldInput } from './FieldInput.tsx';
import { changedValues, editableFields, type FormValue, type FormValues, toFormValue } from './form-values.ts';

/** Properties of the form of a record. */
interface RecordFormProps {
  readonly definition: Definition;
  /** The stored record; absent for a new one. */
  readonly row?: Row | undefined;
  readonly submit: string;
  /** The reason why the record cannot be changed; undefined if it can. */
  readonly refusal?: string | undefined;
  /** Sends the changed values. Resolves with false if they are not saved yet. */
  save(values: Readonly<Record<string, unknown>>): Promise<boolean>;
}

/** The fields of a record, each with the control of its type. Only changed fields are sent. A refused value is marked at its field. */
export function RecordForm({ definition, row, submit, refusal, save }: RecordFormProps) {
  const isNew = row === undefined;
  const fields = editableFields(definition.fields, isNew);
  const before = initialValues(fields, row);
  const [values, setValues] = useState<FormValues>(before);
  const [mistakes, setMistakes] = useState<Readonly<Record<string, string>>>({});
  const changed = changedValues(fields, isNew ? {} : before, values);
  const isDirty = fields.some(({ name }) => JSON.stringify(values[name]) !== JSON.stringify(before[name]));
  const {
    mutate,
    error,
    isPending,
    data: isSaved = false,
  } = useMutation({
    mutationFn: () => save(changed.values),
    onError: (failure) => setMistakes(mistakesOf(failure)),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setMistakes(changed.mistakes);
        if (Object.keys(changed.mistakes).length === 0) mutate();
      }}
    >
      <Stack gap="sm" maw={720}>
        {error !== null && <ProblemAlert error={error} />}
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            isNew={isNew}
            disabled={refusal !== undefined}
            value={values[field.name] ?? null}
            mistake={mistakes[field.name]}
            onChange={(value: FormValue) => setValues((present) => ({ ...present, [field.name]: value }))}
          />
        ))}
        {refusal === undefined ? (
          <Button type="submit" loading={isPending} disabled={!isNew && !isDirty} style={{ alignSelf: 'flex-start' }}>
            {submit}
          </Button>
        ) : (
          refusal
        )}
      </Stack>
      <LeaveGuard isDirty={isDirty && !isSaved && !isPending} />
    </form>
  );
}

function initialValues(fields: RecordFieldList, row: Row | undefined): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, toFormValue(field, row === undefined ? field.default : row[field.name])]));
}

type RecordFieldList = ReturnType<typeof editableFields>;

/** Returns the mistakes of a refused request by field. */
function mistakesOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof RequestError)) return {};
  return Object.fromEntries((error.problem.errors ?? []).map(({ path, detail }) => [path.split('.')[0] ?? path, detail]));
}
