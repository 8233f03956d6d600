import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { EmptyState } from '../components/EmptyState.tsx';
import { shellTexts } from '../texts/shell.ts';

/** Shown instead of a screen that has thrown an error. */
export function CrashedScreen({ error }: ErrorComponentProps) {
  const { title, action } = shellTexts.crashed;
  return (
    <EmptyState
      title={title}
      detail={error instanceof Error ? error.message : String(error)}
      action={
        <Button variant="default" onClick={() => location.reload()}>
          {action}
        </Button>
      }
    />
  );
}
