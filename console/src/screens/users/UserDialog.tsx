import { useDisclosure } from '@mantine/hooks';
import { type ActionName, effectOf, useOwnResource } from '../../api/own-resources.ts';
import type { Row } from '../../api/records.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { dataTexts } from '../../texts/data.ts';
import type { UserFormProps } from './UserForm.tsx';

const form = createPart<UserFormProps>(async () => (await import('./UserForm.tsx')).UserForm);

/** Properties of the button of a form. */
interface UserDialogProps {
  readonly label: string;
  /** Absent for a new user. */
  readonly user?: Row;
  onDone(id: string): void;
}

/** A button that opens the form of a user, or says why if no rule lets the caller change users. */
export function UserDialog({ label, user, onDone }: UserDialogProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const { data: resource } = useOwnResource('User');
  const action: ActionName = user === undefined ? 'create' : 'update';
  const isDenied = resource !== undefined && (resource === null || effectOf(resource, action) === 'deny');
  const finish = (id: string): void => {
    close();
    onDone(id);
  };
  return (
    <>
      <GuardedButton
        {...(user !== undefined && { variant: 'default' })}
        refusal={isDenied ? dataTexts.refused(action) : undefined}
        onClick={open}
      >
        {label}
      </GuardedButton>
      {/* A click beside a form that is partly filled must not lose it. */}
      <Dialog opened={isOpen} onClose={close} title={label} closeOnClickOutside={false}>
        <LazyPart part={form} props={{ ...(user && { user }), onDone: finish }} lines={8} />
      </Dialog>
    </>
  );
}
