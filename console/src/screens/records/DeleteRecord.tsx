import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Row } from '../../api/records.ts';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { dataTexts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';
import type { DeleteDialogProps } from './DeleteDialog.tsx';

const dialogPart = createPart<DeleteDialogProps>(async () => (await import('./DeleteDialog.tsx')).DeleteDialog);

/** Properties of the deletion of a record. */
interface DeleteRecordProps {
  readonly resource: string;
  readonly row: Row;
  /** The reason why the caller may not delete the record. */
  readonly denied: string | undefined;
}

/** The button that deletes a record, after a question whose code is loaded when it is first asked. */
export function DeleteRecord({ resource, row, denied }: DeleteRecordProps) {
  const [isOpen, dialog] = useDisclosure(false);
  const [wasOpened, setWasOpened] = useState(false);
  const open = (): void => {
    setWasOpened(true);
    dialog.open();
  };
  return (
    <>
      <GuardedButton color="red" variant="light" refusal={denied && isolateNames(denied)} onClick={open}>
        {dataTexts.delete.action}
      </GuardedButton>
      {wasOpened && <LazyPart part={dialogPart} props={{ resource, row, isOpen, onClose: dialog.close }} lines={0} />}
    </>
  );
}
