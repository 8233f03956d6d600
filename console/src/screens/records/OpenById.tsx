import { Button, Group, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { dataTexts } from '../../texts/data.ts';

const texts = dataTexts.byId;

/** Opens a record by its id, for callers who may read records but not list them. */
export function OpenById({ resource }: { readonly resource: string }) {
  const navigate = useNavigate();
  const [id, setId] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void navigate({ to: '/data/$resource/$id', params: { resource, id: id.trim() } });
      }}
    >
      <Group align="flex-end">
        <TextInput
          label={texts.label}
          description={texts.help}
          flex="0 1 400px"
          required
          pattern=".*\S.*"
          value={id}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
        />
        <Button type="submit">{texts.open}</Button>
      </Group>
    </form>
  );
}
