import { useState } from 'react';

/** The state of a validation that decides which mistakes of empty fields are shown. */
export interface ValidationProgress {
  /** True while the mistakes are those of an earlier draft. */
  readonly isStale: boolean;
  /** True after an attempt to save the draft, until it has no mistakes. */
  readonly isTried: boolean;
}

/** A field, and what the service says about it. */
interface ValidatedField {
  readonly isEmpty: boolean;
  /** The mistake that the service found. */
  readonly mistake: string | undefined;
  /** The mistake of the empty field in plain words. */
  readonly words: string;
  readonly progress: ValidationProgress;
}

/** Returns the mistake that a field shows, and its handler for blur. An empty field shows its mistake after it was left or the draft was to be saved. */
export function useEmptyMistake({ isEmpty, mistake, words, progress }: ValidatedField) {
  const [wasLeft, setLeft] = useState(false);
  const [found, setFound] = useState<string>();
  if (isEmpty && found !== mistake) setFound(mistake);
  const onBlur = (): void => setLeft(true);
  if (isEmpty) return { error: mistake !== undefined && (wasLeft || progress.isTried) ? words : undefined, onBlur };
  // Until the service has validated the new value, the mistake is that of the empty field.
  return { error: progress.isStale && mistake === found ? undefined : mistake, onBlur };
}
