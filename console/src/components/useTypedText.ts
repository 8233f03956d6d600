import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';

/** A text that is typed, and applied later. */
interface TypedText {
  readonly typed: string;
  type(text: string): void;
  /** Notes that a text was applied. Until the applied text arrives, more may be typed. */
  noteApplied(text: string): void;
}

/** Keeps a typed text beside the one that applies. An applied text that was not typed here, such as that of another address, replaces it. */
export function useTypedText(present: string): TypedText {
  const [typed, type] = useState(present);
  const [applied, setApplied] = useState({ seen: present, sent: present });
  if (present !== applied.seen) {
    setApplied({ ...applied, seen: present });
    // A search can be applied without the spaces at its ends.
    if (present.trim() !== applied.sent.trim()) type(present);
  }
  return { typed, type, noteApplied: (sent) => setApplied((before) => ({ ...before, sent })) };
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
