import { Kbd, Modal, Switch, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { shellTexts } from '../texts/shell.ts';
import { hasCharacterKeys, keepCharacterKeys } from './character-keys.ts';

const { title, keys, characters } = shellTexts.help;

/** The list of keys, and the switch that turns off those of one character. It opens with each request. */
export function KeyboardHelp({ requests }: { readonly requests: number }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [hasCharacters, setCharacters] = useState(hasCharacterKeys);
  const turn = (isOn: boolean): void => {
    keepCharacterKeys(isOn);
    setCharacters(isOn);
  };
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
      <Switch
        mt="md"
        label={characters.label}
        description={characters.description}
        checked={hasCharacters}
        onChange={({ currentTarget }) => turn(currentTarget.checked)}
      />
    </Modal>
  );
}
