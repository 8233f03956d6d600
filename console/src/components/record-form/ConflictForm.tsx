import { Alert, Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { dataTexts } from '../../texts/data.ts';
import { LeaveGuard } from '../LeaveGuard.tsx';
import { MergeChoice } from '../MergeChoice.tsx';
import { ProblemAlert } from '../ProblemAlert.tsx';
import { type Field, toFormValues } from './form-values.ts';
import { MergedValue } from './MergedValue.tsx';
import { type MergeSide, mergeValues, type ThreeValues } from './merge-values.ts';
import { SAVING } from './useIsSaving.ts';
import type { RecordSaving, ValueConflict } from './useSaving.ts';

const texts = dataTexts.conflict;

/** Properties of the merge. */
export interface ConflictFormProps {
  readonly fields: readonly Field[];
  readonly conflict: ValueConflict;
  readonly saving: Pick<RecordSaving, 'saveMerged' | 'edit' | 'leave'>;
}

/** Merges the values of a form with those that another user has stored meanwhile: asks for the fields that both have changed, and lists all others. */
export function ConflictForm({ fields, conflict: { base, mine, stored }, saving }: ConflictFormProps) {
  const versions = useMemo((): ThreeValues => ({ base, mine, theirs: toFormValues(fields, stored) }), [fields, base, mine, stored]);
  const merge = useMemo(() => mergeValues(fields, versions), [fields, versions]);
  const [chosen, setChosen] = useState<ReadonlyMap<string, MergeSide>>(new Map());
  const save = useMutation({ mutationKey: SAVING, mutationFn: () => saving.saveMerged(merge.resolve(chosen)) });
  const takeTheirs = useMutation({ mutationKey: SAVING, mutationFn: () => saving.saveMerged(versions.theirs) });
  const isBusy = save.isPending || takeTheirs.isPending;
  return (
    <Stack gap="sm" maw={720} component="section" aria-label={texts.title}>
      <Alert color="yellow" title={texts.title} role="alert">
        {merge.conflicts.length === 0 ? texts.none : texts.detail}
      </Alert>
      {merge.conflicts.map((field) => (
        <FieldConflict
          key={field.name}
          field={field}
          versions={versions}
          chosen={chosen.get(field.name) ?? 'mine'}
          disabled={isBusy}
          onChoose={(side) => setChosen(new Map(chosen).set(field.name, side))}
        />
      ))}
      <ChangedFields title={texts.onlyMine} fields={merge.mine} before={base} after={mine} />
      <ChangedFields title={texts.onlyTheirs} fields={merge.theirs} before={base} after={versions.theirs} />
      {save.error !== null && <ProblemAlert error={save.error} onRepeat={() => save.mutate()} />}
      {takeTheirs.error !== null && <ProblemAlert error={takeTheirs.error} onRepeat={() => takeTheirs.mutate()} />}
      <Group>
        <Button loading={save.isPending} disabled={isBusy} onClick={() => save.mutate()}>
          {texts.save}
        </Button>
        <Button variant="default" disabled={isBusy} onClick={() => saving.edit(merge.resolve(chosen))}>
          {texts.edit}
        </Button>
        <Button variant="default" loading={takeTheirs.isPending} disabled={isBusy} onClick={() => takeTheirs.mutate()}>
          {texts.takeTheirs}
        </Button>
      </Group>
      <LeaveGuard isDirty={!save.isPending && !takeTheirs.isPending} onLeave={saving.leave} />
    </Stack>
  );
}

interface FieldConflictProps {
  readonly field: Field;
  readonly versions: ThreeValues;
  readonly chosen: MergeSide;
  readonly disabled: boolean;
  onChoose(side: MergeSide): void;
}

/** A field that both have changed, with the choice between the two values. */
function FieldConflict({ field, versions, chosen, disabled, onChoose }: FieldConflictProps) {
  const { name } = field;
  return (
    <MergeChoice name={name} texts={texts} chosen={chosen} disabled={disabled} onChoose={onChoose}>
      <MergedValue title={texts.base} field={field} value={versions.base[name]} />
      <MergedValue title={texts.mine} field={field} value={versions.mine[name]} />
      <MergedValue title={texts.theirs} field={field} value={versions.theirs[name]} />
    </MergeChoice>
  );
}

interface ChangedFieldsProps {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly before: ThreeValues['base'];
  readonly after: ThreeValues['base'];
}

/** The fields that only one of the users has changed, which are merged without a question. */
function ChangedFields({ title, fields, before, after }: ChangedFieldsProps) {
  if (fields.length === 0) return null;
  return (
    <Card withBorder padding="sm">
      <Text fw={600} mb="xs">
        {title}
      </Text>
      <Stack gap="xs">
        {fields.map((field) => (
          <SimpleGrid key={field.name} cols={{ base: 1, xs: 3 }}>
            <Text size="sm">{field.name}</Text>
            <MergedValue title={texts.base} field={field} value={before[field.name]} />
            <MergedValue title={texts.changed} field={field} value={after[field.name]} />
          </SimpleGrid>
        ))}
      </Stack>
    </Card>
  );
}
