import { Button } from '@mantine/core';
import { commonTexts } from '../texts/common.ts';
import { EmptyState } from './EmptyState.tsx';
import { useIsPageOutdated } from './useIsPageOutdated.ts';

const texts = commonTexts.missingPart;

/** Shown instead of a part of the console that could not be loaded. If the service was updated, `UpdateNotice` offers to reload the page. */
export function MissingPart({ onRetry }: { onRetry(): void }) {
  if (useIsPageOutdated()) return <EmptyState title={texts.title} detail={texts.outdated} />;
  return (
    <EmptyState
      title={texts.title}
      detail={texts.detail}
      action={
        <Button variant="default" onClick={onRetry}>
          {commonTexts.retry}
        </Button>
      }
    />
  );
}
