import { Button, Group } from '@mantine/core';
import { commonTexts } from '../texts/common.ts';
import { EmptyState } from './EmptyState.tsx';
import { useIsPageOutdated } from './useIsPageOutdated.ts';

const texts = commonTexts.missingPart;

/** The actions of a missing part. */
interface MissingPartProps {
  onRetry(): void;
  /** Default: false. A retry has failed. Some browsers keep a failed import until the page is loaded again. */
  readonly hasRetried?: boolean;
}

/** Shown instead of a part of the console that could not be loaded. If the service was updated, `UpdateNotice` offers to reload the page. */
export function MissingPart({ onRetry, hasRetried = false }: MissingPartProps) {
  if (useIsPageOutdated()) return <EmptyState title={texts.title} detail={texts.outdated} />;
  return (
    <EmptyState
      title={texts.title}
      detail={hasRetried ? texts.retried : texts.detail}
      action={
        <Group>
          <Button variant="default" onClick={onRetry}>
            {commonTexts.retry}
          </Button>
          {hasRetried && (
            <Button variant="default" onClick={() => location.reload()}>
              {texts.reload}
            </Button>
          )}
        </Group>
      }
    />
  );
}
