import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

/** A text that is typed, and applied later. */
interface TypedText {
  readonly typed: string;
  type(text: string): void;
  /** Notes that a text was applied. Until the applied text arrives, more may be typed. */
  noteApplied(text: string): void;
}

/** The text that applies, and the one that will. */
interface AppliedText {
  readonly seen: string;
  /** The text that was applied here, until it arrives: a later return to it, such as with Back, comes from elsewhere. */
  readonly sent: string | undefined;
}

/** Keeps a typed text beside the one that applies. An applied text that was not typed here, such as that of another address, replaces it. */
export function useTypedText(present: string): TypedText {
  const [typed, type] = useState(present);
  const [{ seen, sent }, setApplied] = useState<AppliedText>({ seen: present, sent: undefined });
  if (present !== seen) {
    setApplied({ seen: present, sent: undefined });
    // A search can be applied without the spaces at its ends.
    if (present.trim() !== sent?.trim()) type(present);
  }
  return { typed, type, noteApplied: (text) => setApplied((before) => ({ ...before, sent: text })) };
}

/** Milliseconds after the last key at which a typed search begins. */
const DELAY = 250;

/** Returns the properties of a text field whose text is applied shortly after the last key. */
export function useDelayedText(present: string, apply: (text: string) => void) {
  const { typed, type, noteApplied } = useTypedText(present);
  const applyLater = useDebouncedCallback((text: string) => {
    noteApplied(text);
    apply(text);
  }, DELAY);
  return {
    value: typed,
    onChange: ({ currentTarget: { value } }: { readonly currentTarget: { readonly value: string } }) => {
      type(value);
      applyLater(value);
    },
  };
}
