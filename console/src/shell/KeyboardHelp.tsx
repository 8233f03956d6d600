import { Kbd, Modal, Table } from '@mantine/core';
import { shellTexts } from '../texts/shell.ts';

/** The list of keys. */
export function KeyboardHelp({ isOpen, onClose }: { readonly isOpen: boolean; onClose(): void }) {
  const { title, keys } = shellTexts.help;
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
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
