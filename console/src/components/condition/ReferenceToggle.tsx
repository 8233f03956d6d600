import { ActionIcon } from '@mantine/core';
import { builderTexts as texts } from '../../texts/condition-builder.ts';

/** Properties of the switch. */
interface ReferenceToggleProps {
  /** True if the value is that of a path. */
  readonly isReferring: boolean;
  onToggle(): void;
}

/** Switches the right side of a comparison between a fixed value and the value of a path. */
export function ReferenceToggle({ isReferring, onToggle }: ReferenceToggleProps) {
  return (
    <ActionIcon
      mt={2}
      size="lg"
      variant={isReferring ? 'filled' : 'default'}
      aria-pressed={isReferring}
      aria-label={texts.reference}
      title={isReferring ? texts.literal : texts.reference}
      onClick={onToggle}
    >
      <span aria-hidden="true">{'${}'}</span>
    </ActionIcon>
  );
}
