import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { EmptyState } from '../components/EmptyState.tsx';
import { MissingPartError } from '../components/load-part.ts';
import { MissingPart } from '../components/MissingPart.tsx';
import { shellTexts } from '../texts/shell.ts';

const reload = (): void => location.reload();

/** Shown instead of a screen that has thrown an error, or that could not be loaded. */
export function CrashedScreen({ error }: ErrorComponentProps) {
  if (error instanceof MissingPartError) return <MissingPart onRetry={reload} />;
  const { title, action } = shellTexts.crashed;
  return (
    <EmptyState
      title={title}
      detail={error instanceof Error ? error.message : String(error)}
      action={
        <Button variant="default" onClick={reload}>
          {action}
        </Button>
      }
    />
  );
}
