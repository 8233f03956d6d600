import { Alert, FileInput, Group, Select, Stack, Switch } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useOwnResource } from '../../../api/own-resources.ts';
import { GuardedButton } from '../../../components/GuardedButton.tsx';
import { LeaveGuard } from '../../../components/LeaveGuard.tsx';
import { ProblemAlert } from '../../../components/ProblemAlert.tsx';
import { QueryState } from '../../../components/QueryState.tsx';
import type { Field } from '../../../components/record-form/form-values.ts';
import { dataTexts } from '../../../texts/data.ts';
import { ColumnFields } from './ColumnFields.tsx';
import { type ColumnMapping, suggestMapping } from './column-mapping.ts';
import { ImportProgress } from './ImportProgress.tsx';
import { ImportResult } from './ImportResult.tsx';
import { type ImportFile, openImportFile, splitBy } from './import-file.ts';
import { useImport } from './useImport.ts';

const texts = dataTexts.importing;

/** Properties of the import. */
export interface ImportFormProps {
  /** Name of the resource. */
  readonly resource: string;
  /** Called when an import starts and when it ends. */
  onRunning(isRunning: boolean): void;
}

/** Imports a file, or tries it without changing anything: maps its columns to fields, and shows the progress and the rejected rows. */
export function ImportForm({ resource, onRunning }: ImportFormProps) {
  const found = useOwnResource(resource);
  return (
    <QueryState query={found} lines={3}>
      {(own) => <FileForm resource={resource} onRunning={onRunning} fields={own?.definition.fields ?? []} />}
    </QueryState>
  );
}

interface MappedFile {
  readonly file: ImportFile;
  readonly mapping: ColumnMapping;
}

function FileForm({ resource, onRunning, fields }: ImportFormProps & { readonly fields: readonly Field[] }) {
  const [mapped, setMapped] = useState<MappedFile>();
  const { running, result, start, stop, reset } = useImport(resource);
  const isRunning = running !== undefined;
  useEffect(() => onRunning(isRunning), [isRunning, onRunning]);
  const show = (file: ImportFile): void => setMapped({ file, mapping: suggestMapping(file.columns, fields) });
  const open = useMutation({ mutationFn: (file: File) => openImportFile(file, fields) });
  // Only for the last file: an earlier one may be read later.
  const read = (file: File): void => open.mutate(file, { onSuccess: show });
  const split = useMutation({
    mutationFn: (delimiter: ImportFile['delimiter']) => splitBy(chosen(mapped).file, delimiter),
    onSuccess: show,
  });
  return (
    <Stack>
      <FileInput
        label={texts.file}
        accept=".csv,.tsv,.ndjson,.jsonl,.json"
        required
        disabled={isRunning}
        onChange={(file) => {
          reset();
          setMapped(undefined);
          if (file === null) open.reset();
          else read(file);
        }}
      />
      <LeaveGuard isDirty={isRunning} texts={texts.leave} />
      {open.error !== null && <ProblemAlert error={open.error} onRetry={() => read(open.variables)} />}
      {mapped?.file.columns.length === 0 && <Alert color="yellow">{texts.mapping.unmapped}</Alert>}
      {mapped && mapped.file.columns.length > 0 && (
        <ColumnFields {...mapped} fields={fields} onChange={(mapping) => setMapped({ ...mapped, mapping })} onSplit={split.mutate} />
      )}
      {split.error !== null && <ProblemAlert error={split.error} onRetry={() => split.mutate(split.variables)} />}
      <ImportOptionsForm
        keys={uniqueFields(fields)}
        isRunning={isRunning}
        refusal={refusalOf(mapped)}
        onStart={(options) => start({ ...chosen(mapped), options })}
      />
      {running && <ImportProgress running={running} isDryRun={running.isDryRun} onStop={stop} />}
      {result && <ImportResult result={result} resource={resource} onRepeat={() => start(result.input)} />}
    </Stack>
  );
}

function chosen(mapped: MappedFile | undefined): MappedFile {
  if (mapped === undefined) throw new Error(texts.noFile);
  return mapped;
}

/** Returns the reason why nothing can be imported yet. */
function refusalOf(mapped: MappedFile | undefined): string | undefined {
  if (mapped === undefined) return texts.noFile;
  const { file, mapping } = mapped;
  return file.columns.length > 0 && mapping.every((field) => field === null) ? texts.mapping.none : undefined;
}

function uniqueFields(fields: readonly Field[]): readonly string[] {
  return ['id', ...fields.filter(({ name, unique }) => unique && name !== 'id').map(({ name }) => name)];
}

interface ImportOptionsFormProps {
  readonly keys: readonly string[];
  readonly isRunning: boolean;
  /** The reason why nothing can be imported. */
  readonly refusal: string | undefined;
  onStart(options: { readonly dryRun: boolean; readonly skipsRejected: boolean; readonly key: string | undefined }): void;
}

function ImportOptionsForm({ keys, isRunning, refusal, onStart }: ImportOptionsFormProps) {
  const [key, setKey] = useState<string | null>(null);
  const [skipsRejected, setSkips] = useState(true);
  const start = (dryRun: boolean): void => onStart({ dryRun, skipsRejected, key: key ?? undefined });
  const button = { refusal, disabled: isRunning };
  return (
    <>
      <Select label={texts.update} description={texts.updateHelp} clearable data={[...keys]} value={key} onChange={setKey} />
      <Switch label={texts.skip} checked={skipsRejected} onChange={({ currentTarget }) => setSkips(currentTarget.checked)} />
      <Group>
        <GuardedButton variant="default" {...button} onClick={() => start(true)}>
          {texts.dryRun}
        </GuardedButton>
        <GuardedButton {...button} onClick={() => start(false)}>
          {texts.run}
        </GuardedButton>
      </Group>
    </>
  );
}
