import { useQueryClient } from '@tanstack/react-query';
import { AsyncPicker } from './AsyncPicker.tsx';
import type { ResourceDescription } from './record-labels.ts';
import { recordSource } from './record-source.ts';

/** Properties of a picker of records. */
export interface RecordPickerProps {
  readonly resource: ResourceDescription;
  readonly label: string;
  readonly description?: string;
  readonly value: string | undefined;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly error?: string;
  onChange(id: string | undefined): void;
}

/** Picks a record that the caller may list, by the field that names it. */
export function RecordPicker({ resource, ...props }: RecordPickerProps) {
  return <AsyncPicker {...props} source={recordSource(resource, useQueryClient())} />;
}
