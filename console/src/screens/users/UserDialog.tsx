import { useDisclosure } from '@mantine/hooks';
import type { Row } from '../../api/records.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { useIsSaving } from '../../components/record-form/useIsSaving.ts';
import type { UserFormProps } from './UserForm.tsx';
import { useUserRefusal } from './useUserRefusal.ts';

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
  const isBusy = useIsSaving();
  const refusal = useUserRefusal(user === undefined ? 'create' : 'update');
  const finish = (id: string): void => {
    close();
    onDone(id);
  };
  return (
    <>
      <GuardedButton {...(user !== undefined && { variant: 'default' })} refusal={refusal} onClick={open}>
        {label}
      </GuardedButton>
      {/* A click beside a form that is partly filled must not lose it. */}
      <Dialog opened={isOpen} isBusy={isBusy} onClose={close} title={label} closeOnClickOutside={false}>
        <LazyPart part={form} props={{ ...(user && { user }), onDone: finish, onCancel: close }} lines={8} />
      </Dialog>
    </>
  );
}
