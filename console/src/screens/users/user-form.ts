import type { Definition } from '../../api/own-resources.ts';
import { WITHOUT_TOKEN } from '../../api/role-names.ts';
import { usersTexts } from '../../texts/service.ts';

const texts = usersTexts.form;

/**
 * Returns the definition of the form of a user, or of a new one: without `isActive`, which has a button that says what follows, and without the role
 * of requests without a token, unless the user has it.
 */
export function toUserForm(definition: Definition, user: Readonly<Record<string, unknown>> | undefined): Definition {
  const description = user === undefined ? texts.newPassword : texts.password;
  const fields = definition.fields
    .filter(({ name }) => name !== 'isActive')
    .map((field) => {
      if (field.name === 'password') return { ...field, description };
      if (field.name !== 'role' || field.values === undefined || user?.['role'] === WITHOUT_TOKEN) return field;
      return { ...field, values: field.values.filter((role) => role !== WITHOUT_TOKEN) };
    });
  return { ...definition, fields };
}

/** Names of the fields that the head of the screen of a user shows. */
const SHOWN: ReadonlySet<string> = new Set(['id', 'name', 'email', 'role', 'isActive']);

/** Returns the fields whose values the screen of a user lists: those that the project adds, then those that the service sets. */
export function toListedFields({ fields }: Definition): Definition['fields'] {
  return fields.filter(({ name, writeOnly }) => !writeOnly && !SHOWN.has(name)).toSorted((a, b) => Number(a.readOnly) - Number(b.readOnly));
}
