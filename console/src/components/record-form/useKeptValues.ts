import { useEffect, useState } from 'react';
import { useSession } from '../../shell/useSession.ts';
import { discardValues, type FormSubject, type KeptValues, keepValues, keptParts, readKeptValues } from './kept-values.ts';
import type { RecordEditor } from './useRecordEditor.ts';

/** The values of a form that the tab keeps, and their end. */
export interface ValueKeeper {
  /** The values of an earlier page; undefined if there are none, or their user has decided about them. */
  readonly kept: KeptValues | undefined;
  /** False if the changes are too large to be kept. */
  readonly isKeeping: boolean;
  /** Ends the offer of the kept values. */
  decide(): void;
  /** Removes the values of this page, because they are saved or given up. Those that are still offered stay. */
  discard(): void;
  /** Removes the kept values, because they are saved or given up after a merge. */
  discardKept(): void;
}

/**
 * Keeps the unsaved values of a form in the tab, and returns those that an earlier page has kept. Until their user has decided about these, they stay in
 * place of later ones.
 */
export function useKeptValues(resource: string, { fields, base, before, values, isDirty }: RecordEditor): ValueKeeper {
  const session = useSession();
  // While the session has ended, nothing is kept or removed: the next sign-in finds the values.
  const userId = session.status === 'signedIn' ? session.user.id : undefined;
  const { id, version } = base ?? {};
  const subject: FormSubject | undefined = userId === undefined ? undefined : { userId, resource, id };
  const [kept, setKept] = useState(() => subject && readKeptValues(subject));
  const [isKeeping, setKeeping] = useState(true);
  const isUndecided = kept !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the fields and the base change with the values before the changes
  useEffect(() => {
    if (subject === undefined || isUndecided) return;
    const parts = keptParts(fields, { before, values });
    if (Object.keys(parts.values).length > 0) setKeeping(keepValues({ ...subject, version, ...parts }));
    else discardValues(subject);
  }, [userId, before, values, isUndecided]);
  return {
    kept,
    isKeeping: isKeeping || !isDirty,
    decide: () => setKept(undefined),
    discard: () => {
      if (subject !== undefined && !isUndecided) discardValues(subject);
    },
    discardKept: () => {
      if (subject !== undefined) discardValues(subject);
      setKept(undefined);
    },
  };
}
