import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Dialog } from '../../components/Dialog.tsx';
import { PolicyPicker } from '../../components/PolicyPicker.tsx';
import { commonTexts } from '../../texts/common.ts';
import { assignmentsTexts } from '../../texts/policy.ts';

const texts = assignmentsTexts.assign;

/** A button that asks for a policy, and leads to the dialog that assigns it. */
export function AssignPolicyButton() {
  const [isOpen, setOpen] = useState(false);
  const [policyId, setPolicyId] = useState<string>();
  const navigate = useNavigate();
  const open = (): void => {
    if (policyId === undefined) return;
    void navigate({ to: '/policies/$id', params: { id: policyId }, search: { tab: 'assignments', assign: true } });
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>{texts.action}</Button>
      <Dialog opened={isOpen} onClose={() => setOpen(false)} title={texts.action}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            open();
          }}
        >
          <Stack>
            <PolicyPicker label={texts.policy} required value={policyId} onChange={setPolicyId} />
            <Text size="sm">{texts.detail}</Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpen(false)}>
                {commonTexts.cancel}
              </Button>
              <Button type="submit" disabled={policyId === undefined}>
                {texts.next}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
