/**
 * The unsaved values of forms of records, as the tab keeps them for the user who typed them: a session can end, and a page can be loaded again.
 * Values of secret fields are never kept.
 */
import { KEPT_ITEMS, readItem, type TabStorage } from '../../api/tab-storage.ts';
import { type Field, type FormValue, type FormValues, isSecret } from './form-values.ts';

/** The form of a record. */
export interface FormSubject {
  readonly userId: string;
  readonly resource: string;
  /** The id of the record; undefined for a new one. */
  readonly id: string | undefined;
}

/** The unsaved values of a form. */
export interface KeptValues extends FormSubject {
  /** The version of the record that the changes began with; undefined for a new record. */
  readonly version: number | undefined;
  /** The values of the changed fields before the changes. */
  readonly before: FormValues;
  readonly values: FormValues;
  /** True if changes of secret fields were left out. */
  readonly isPartial: boolean;
}

/** Item of the session storage that contains the values of forms as JSON, the newest first. */
export const KEPT_VALUES_ITEM = KEPT_ITEMS.records;

/** Maximum number of forms, and of the characters of all of them: browsers store about five million for a site. */
const MAX_FORMS = 5;
const MAX_SIZE = 1_000_000;

/** Returns the kept values of a form; undefined if there are none. */
export function readKeptValues(subject: FormSubject, storage: TabStorage = sessionStorage): KeptValues | undefined {
  return readAll(storage).find((each) => isSameForm(each, subject));
}

/** Keeps the values of a form in place of its former ones. Returns false if they are too large. */
export function keepValues(kept: KeptValues, storage: TabStorage = sessionStorage): boolean {
  // Those of other users are not kept longer: the tab has another user now.
  const others = readAll(storage).filter((each) => each.userId === kept.userId && !isSameForm(each, kept));
  const forms = [kept, ...others].slice(0, MAX_FORMS);
  const fitting = forms.filter((_, index) => JSON.stringify(forms.slice(0, index + 1)).length <= MAX_SIZE);
  try {
    // Values that are too large alone leave those of the other forms.
    write(fitting.length > 0 ? fitting : others, storage);
  } catch {
    // The storage of the site is full. The form says so.
    return false;
  }
  return fitting.length > 0;
}

/** Removes the kept values of a form. */
export function discardValues(subject: FormSubject, storage: TabStorage = sessionStorage): void {
  const all = readAll(storage);
  const others = all.filter((each) => !isSameForm(each, subject));
  if (others.length < all.length) write(others, storage);
}

/** The values that a form can keep: the changed ones that are not secret. */
export function keptParts(
  fields: readonly Field[],
  { before, values }: { readonly before: FormValues; readonly values: FormValues },
): Pick<KeptValues, 'before' | 'values' | 'isPartial'> {
  const changed = fields.filter(({ name }) => !isSameValue(before[name], values[name]));
  const kept = changed.filter((field) => !isSecret(field));
  const pick = (from: FormValues): FormValues => Object.fromEntries(kept.map(({ name }) => [name, from[name] ?? null]));
  return { before: pick(before), values: pick(values), isPartial: kept.length < changed.length };
}

/** Returns true for equal values. A missing value equals null. */
export function isSameValue(one: FormValue | undefined, other: FormValue | undefined): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function write(forms: readonly KeptValues[], storage: TabStorage): void {
  if (forms.length === 0) storage.removeItem(KEPT_VALUES_ITEM);
  else storage.setItem(KEPT_VALUES_ITEM, JSON.stringify(forms));
}

function readAll(storage: TabStorage): readonly KeptValues[] {
  const all = readItem(KEPT_VALUES_ITEM, storage);
  return Array.isArray(all) ? all.filter(isKept) : [];
}

function isSameForm(one: FormSubject, other: FormSubject): boolean {
  return one.userId === other.userId && one.resource === other.resource && one.id === other.id;
}

function isKept(value: unknown): value is KeptValues {
  if (typeof value !== 'object' || value === null) return false;
  const { userId, resource, id, version, before, values } = value as Readonly<Record<string, unknown>>;
  const isForm = id === undefined ? version === undefined : typeof id === 'string' && typeof version === 'number';
  return typeof userId === 'string' && typeof resource === 'string' && isForm && areValues(before) && areValues(values);
}

function areValues(values: unknown): values is FormValues {
  return typeof values === 'object' && values !== null && Object.values(values).every(isFormValue);
}

function isFormValue(value: unknown): value is FormValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}
