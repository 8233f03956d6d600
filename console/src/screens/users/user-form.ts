import type { Definition } from '../../api/own-resources.ts';
import { usersTexts } from '../../texts/service.ts';

const texts = usersTexts.form;

/** Returns the definition of the form of a user: without `isActive`, which has a button that says what follows. */
export function toUserForm(definition: Definition, isNew: boolean): Definition {
  const description = isNew ? texts.newPassword : texts.password;
  const fields = definition.fields
    .filter(({ name }) => name !== 'isActive')
    .map((field) => (field.name === 'password' ? { ...field, description } : field));
  return { ...definition, fields };
}

/** Names of the fields that the head of the screen of a user shows. */
const SHOWN: ReadonlySet<string> = new Set(['id', 'name', 'email', 'role', 'isActive']);

/** Returns the fields whose values the screen of a user lists: those that the project adds, then those that the service sets. */
export function toListedFields({ fields }: Definition): Definition['fields'] {
  return fields.filter(({ name, writeOnly }) => !writeOnly && !SHOWN.has(name)).toSorted((a, b) => Number(a.readOnly) - Number(b.readOnly));
}
