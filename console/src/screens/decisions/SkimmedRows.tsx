import { Time } from '../../components/Time.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import classes from './SkimmedRows.module.css';

/** Properties of the place of rows. */
interface SkimmedRowsProps {
  /** The time of the first entry in view. */
  readonly at: string | undefined;
  /** The index of this entry. */
  readonly index: number;
  readonly count: number;
}

/** The columns of the table, the first ones by their names. */
const COLUMNS = Object.keys(texts.columns);

/**
 * The outlines of rows during a fast scroll, and the time that it has reached. The outlines never change, so that a frame costs no more than the
 * change of the time.
 */
export function SkimmedRows({ at, index, count }: SkimmedRowsProps) {
  return (
    <div className={classes['skimmed']} aria-hidden="true">
      <div className={classes['outlines']}>
        {COLUMNS.map((name) => (
          <div key={name} className={classes['outline']} />
        ))}
      </div>
      <div className={classes['place']}>
        <strong>
          <Time at={at} />
        </strong>
        <div>{texts.place(index + 1, count)}</div>
      </div>
    </div>
  );
}
