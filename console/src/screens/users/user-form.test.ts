import { describe, expect, it } from 'vitest';
import type { Definition } from '../../api/own-resources.ts';
import { usersTexts } from '../../texts/service.ts';
import { toListedFields, toUserForm } from './user-form.ts';

const fieldOf = (name: string, description = ''): Definition['fields'][number] => ({
  ...{ name, type: 'string', operators: [], description },
  ...{ guarded: false, immutable: false, index: false, readOnly: false, required: false, unique: false, writeOnly: false },
});

const definition = {
  name: 'User',
  fields: [
    fieldOf('name'),
    { ...fieldOf('password', 'Secret.'), writeOnly: true },
    fieldOf('isActive'),
    fieldOf('department', 'A desk.'),
    { ...fieldOf('createdAt'), readOnly: true },
  ],
} as unknown as Definition;

describe('the fields of a user', () => {
  it('the form has those that a project adds, says what passwords are refused, and leaves isActive to its button', () => {
    expect(toUserForm(definition, undefined).fields.map(({ name, description }) => [name, description])).toEqual([
      ['name', ''],
      ['password', usersTexts.form.newPassword],
      ['department', 'A desk.'],
      ['createdAt', ''],
    ]);
    expect(toUserForm(definition, {}).fields[1]?.description).toBe(usersTexts.form.password);
  });

  it('the form offers the role of requests without a token only to a user who has it', () => {
    const role = { ...fieldOf('role'), type: 'enum', values: ['admin', 'user', 'anon'] };
    const rolesFor = (user: { readonly role: string } | undefined) => toUserForm({ ...definition, fields: [role] }, user).fields[0]?.values;
    expect(rolesFor(undefined)).toEqual(['admin', 'user']);
    expect(rolesFor({ role: 'user' })).toEqual(['admin', 'user']);
    expect(rolesFor({ role: 'anon' })).toEqual(['admin', 'user', 'anon']);
  });

  it('the screen lists those that a project adds and the service sets, and no secret one', () => {
    expect(toListedFields(definition).map(({ name }) => name)).toEqual(['department', 'createdAt']);
  });
});
