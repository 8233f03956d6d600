import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hasCode } from '../../api/problem.ts';
import { loadRecord, type Row, sendRecordRequest } from '../../api/records.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { notifySuccess } from '../notify.ts';
import { changedValues, type FormValues, toFormValues } from './form-values.ts';
import type { ValueKeeper } from './useKeptValues.ts';
import type { RecordEditor } from './useRecordEditor.ts';

/** A change that another change has overtaken. */
export interface ValueConflict {
  /** The values that both changes began with. */
  readonly base: FormValues;
  readonly mine: FormValues;
  /** The record as the other change has stored it. */
  readonly stored: Row;
  /** True if the changes are those that the tab has kept. They stay until the merge ends. */
  readonly isOfKept?: boolean;
}

/** Saves a record, and resolves conflicts with changes that were stored meanwhile. */
export interface RecordSaving {
  readonly conflict: ValueConflict | undefined;
  /** Saves changed values. Resolves with false after a conflict. */
  save(values: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Saves merged values over the stored version. */
  saveMerged(merged: FormValues): Promise<void>;
  /** Shows the form with merged values. They are not saved. */
  edit(merged: FormValues): void;
  /** Shows a conflict. */
  compare(conflict: ValueConflict): void;
  /** Removes the changes from the tab, because the user leaves the merge without saving. */
  leave(): void;
}

interface SavingOptions {
  readonly resource: string;
  readonly editor: RecordEditor;
  readonly keeper: ValueKeeper;
  reload(): Promise<unknown>;
}

/** Saves a record with its version. If it was changed meanwhile, loads the stored values for a merge. */
export function useSaving(options: SavingOptions): RecordSaving {
  const [conflict, compare] = useState<ValueConflict>();
  const { resource, editor, keeper } = options;
  const discard = conflict?.isOfKept === true ? keeper.discardKept : keeper.discard;
  const finish = useFinish(options, () => {
    discard();
    compare(undefined);
  });
  const { fields, base, before, values } = editor;
  /** Writes values over a version. If the record was changed meanwhile, compares `mine` with the stored values. */
  const write = async (body: Readonly<Record<string, unknown>>, over: Row, mine: Omit<ValueConflict, 'stored'>): Promise<boolean> => {
    const path = `${encodeURIComponent(resource)}/${encodeURIComponent(over.id)}`;
    try {
      const { data } = await sendRecordRequest<{ readonly data: Row }>(path, { method: 'PUT', body, version: over.version });
      notifySuccess(texts.record.saved);
      // A user who may change the record but not read it gets only its id.
      await finish({ ...over, ...data });
      return true;
    } catch (error) {
      if (!hasCode(error, 'RECORD_VERSION')) throw error;
      compare({ ...mine, stored: await loadRecord(resource, over.id), isOfKept: conflict?.isOfKept === true });
      return false;
    }
  };
  return {
    conflict,
    compare,
    leave: discard,
    save: async (body) => base !== undefined && write(body, base, { base: before, mine: values }),
    edit: (merged) => {
      if (conflict !== undefined) editor.restart(conflict.stored, merged);
      if (conflict?.isOfKept === true) keeper.decide();
      compare(undefined);
    },
    saveMerged: async (merged) => {
      if (conflict === undefined) return;
      const { stored } = conflict;
      const theirs = toFormValues(fields, stored);
      const changed = changedValues(fields, theirs, merged);
      // Without a change of mine, the stored version is the result.
      if (Object.keys(changed.values).length === 0) await finish(stored);
      else await write(changed.values, stored, { base: theirs, mine: merged });
    },
  };
}

/** Returns a function that begins again with a stored record, and loads all that is shown of it. */
function useFinish({ resource, editor, reload }: SavingOptions, onFinish: () => void): (stored: Row) => Promise<void> {
  const queryClient = useQueryClient();
  return async (stored) => {
    editor.restart(stored);
    onFinish();
    await Promise.all([queryClient.invalidateQueries({ queryKey: ['records', resource] }), reload()]);
  };
}
