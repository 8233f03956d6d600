import { Button, Center } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../../components/EmptyState.tsx';
import { shellTexts } from '../../texts/shell.ts';

/** Shown for a path without a screen. */
export function NotFound() {
  const { title, action } = shellTexts.notFound;
  useDocumentTitle(`${title} · ${shellTexts.product}`);
  return (
    <Center mih="100vh" p="md" component="main">
      <EmptyState
        title={title}
        action={
          <Button component={Link} to="/" variant="default">
            {action}
          </Button>
        }
      />
    </Center>
  );
}
