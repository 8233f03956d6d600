import { useQuery, useQueryClient } from '@tanstack/react-query';
import { catalogueQuery } from '../../api/queries.ts';
import { createRecord, type Row } from '../../api/records.ts';
import { notifySuccess } from '../../components/notify.ts';
import { QueryState } from '../../components/QueryState.tsx';
import { NewRecordForm } from '../../components/record-form/NewRecordForm.tsx';
import { StoredRecordForm } from '../../components/record-form/StoredRecordForm.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { usersTexts } from '../../texts/service.ts';
import { toUserForm } from './user-form.ts';

const texts = usersTexts.form;

/** Properties of the form of a user. */
export interface UserFormProps {
  /** Absent for a new user. */
  readonly user?: Row;
  /** Called with the id of the stored user. */
  onDone(id: string): void;
  /** Closes the form without a change. */
  onCancel(): void;
}

/** The form of a user, with the fields that the project adds. */
export function UserForm({ user, onDone, onCancel }: UserFormProps) {
  const queryClient = useQueryClient();
  // Unlike the catalogue of the caller, that of admins has the password.
  const form = useQuery({
    ...catalogueQuery,
    select: ({ definitions }) => definitions.filter(({ name }) => name === 'User').map((definition) => toUserForm(definition, user)),
  });
  const reload = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['users'] });
  const watch = useScreenWatch();
  const create = async (body: object): Promise<void> => {
    const isOpen = watch();
    const reloadAll = () => Promise.all([reload(), queryClient.invalidateQueries({ queryKey: ['records'] })]);
    const { id } = await createRecord('User', body, reloadAll);
    notifySuccess(texts.created);
    if (isOpen()) onDone(id);
  };
  const finish = async (): Promise<void> => {
    await reload();
    if (user !== undefined) onDone(user.id);
  };
  return (
    <QueryState query={form} lines={8}>
      {(found) =>
        found.map((definition) =>
          user === undefined ? (
            <NewRecordForm key={definition.name} definition={definition} submit={texts.create} create={create} onCancel={onCancel} />
          ) : (
            <StoredRecordForm key={user.id} definition={definition} row={user} reload={finish} />
          ),
        )
      }
    </QueryState>
  );
}
