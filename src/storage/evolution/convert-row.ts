import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { typeOf } from '../../resource/index.ts';
import type { Conversion, Written } from './conversion.ts';
import { type Converted, convertValue } from './convert-value.ts';

/** A row of a conversion as it is read. */
export interface SourceRow {
  readonly id: string;
  /** What its columns hold, from the oldest to the one in force. */
  readonly [value: `value${number}`]: unknown;
  /** Whether a value could not become that of the next column, because it led to nothing there. */
  readonly [dangles: `dangles${number}`]: unknown;
}

/** What returns has its value again, unless somebody wrote another since or the type has no place for it by now. */
export function convertRow({ from, after, aside, returnsTo = -1 }: Conversion, row: SourceRow): Converted {
  const history = readHistory([...aside, from], row);
  const [value, then] = [history.values[returnsTo], aside[returnsTo]];
  if (value !== undefined && then !== undefined && history.origins.at(-1)?.has(returnsTo) === true) {
    // Through the same door, for what else is asked of it by now: that an enum still lists it.
    const returned = convertValue(value, then.field, after);
    if (returned.fits) return returned;
  }
  return convertAt(history, aside.length, after);
}

/** What the columns of a row hold, from the oldest to the one in force. */
interface History {
  readonly columns: readonly Written[];
  readonly values: readonly (Json | undefined)[];
  /** For each column, those before it whose value it still says in its own way: nobody wrote another in the meantime. Itself too. */
  readonly origins: readonly ReadonlySet<number>[];
}

/**
 * The value of a column in another type. Where it has none, the last of those before that has its place there and that nobody has
 * taken away: a text that was no number is there again once the number is a text.
 */
function convertAt({ columns, values, origins }: History, at: number, after: Field): Converted {
  for (let index = at; index >= 0; index--) {
    const [value, written] = [values[index], columns[index]];
    if (value === undefined || written === undefined || origins[at]?.has(index) !== true) continue;
    const became = convertValue(value, written.field, after);
    if (became.fits || index === at) return became;
  }
  return { fits: true };
}

function readHistory(columns: readonly Written[], row: SourceRow): History {
  const values = columns.map(({ field }, index) => read(row[`value${index}`], field));
  const origins: Set<number>[] = [];
  const history: History = { columns, values, origins };
  for (const [at, { field }] of columns.entries()) {
    const found = new Set([at]);
    for (let before = 0; before < at; before++) {
      const dangles = before === at - 1 && row[`dangles${before}`] === 1;
      const became = dangles ? undefined : convertAt(history, before, field);
      if (!saysTheSame(became, values[at], { beside: before === at - 1 })) continue;
      // And whatever in between says the same as that: where it came back from there, it was what this was made of.
      for (const [other, its] of origins.entries()) if (origins[before]?.has(other) === true || its.has(before)) found.add(other);
    }
    origins.push(found);
  }
  return history;
}

/** Of columns that others once lay between, only values tell: that both have none may have another reason. */
function saysTheSame(became: Converted | undefined, value: Json | undefined, { beside }: { readonly beside: boolean }): boolean {
  const said = became?.fits === true ? became.value : undefined;
  return JSON.stringify(said) === JSON.stringify(value) && (beside || value !== undefined);
}

function read(stored: unknown, field: Field): Json | undefined {
  return stored === null || stored === undefined ? undefined : typeOf(field).fromColumn(stored, field);
}
