import classes from './Tag.module.css';

/** Properties of a tag. */
interface TagProps {
  readonly label: string;
  /** The accessible name of the button that removes the tag. */
  readonly removeLabel: string;
  readonly isDisabled?: boolean;
  onRemove(): void;
}

/** A text with a button that removes it. */
export function Tag({ label, removeLabel, isDisabled = false, onRemove }: TagProps) {
  return (
    <span className={classes['tag']}>
      <span>{label}</span>
      <button type="button" className={classes['remove']} aria-label={removeLabel} disabled={isDisabled} onClick={onRemove}>
        ✕
      </button>
    </span>
  );
}
