import { Kbd, Modal, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect } from 'react';
import { shellTexts } from '../texts/shell.ts';

const { title, keys } = shellTexts.help;

/** The list of keys. It opens with each request. */
export function KeyboardHelp({ requests }: { readonly requests: number }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: opened after the first render, because a dialog returns the focus only then
  useEffect(open, [requests]);
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <Table>
        <Table.Tbody>
          {keys.map(([key, meaning]) => (
            <Table.Tr key={key}>
              <Table.Td w={110}>
                <Kbd>{key}</Kbd>
              </Table.Td>
              <Table.Td>{meaning}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
