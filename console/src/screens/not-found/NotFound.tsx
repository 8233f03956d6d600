import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../../components/EmptyState.tsx';
import { shellTexts } from '../../texts/shell.ts';

/** Shown for a path without a screen. */
export function NotFound() {
  const { title, action } = shellTexts.notFound;
  return (
    <EmptyState
      title={title}
      action={
        <Button component={Link} to="/" variant="default">
          {action}
        </Button>
      }
    />
  );
}
