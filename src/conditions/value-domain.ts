/** The values that a path can have, with which literals are validated. */
import { didYouMean } from '../errors.ts';
import type { Json } from '../operators/index.ts';

/** The values that a path can have: the values of an enum, the hours of a day, or all values in the form in which they are stored. */
export type ValueDomain = ListedDomain | StoredDomain;

interface ListedDomain extends DescribedDomain {
  /** All values. An enum has at most 200. */
  readonly values: readonly (string | number)[];
}

interface StoredDomain extends DescribedDomain {
  readonly values?: undefined;
  /** Returns the form in which a value is stored, such as an email in lower case. */
  toStored(value: Json): Json;
}

interface DescribedDomain {
  /** The values in messages: `one of "open", "closed"`. */
  readonly described: string;
  /** Returns a hint with the value that was probably meant: ` (did you mean 6?)`; empty if no value is near. */
  nearest(given: Json): string;
  /** Returns a hint for the message about a `between` whose lower bound is the greater one, such as hours over midnight. */
  readonly describeWrapped?: (low: number, high: number) => string;
}

/** Maximum values that a message lists. */
const VALUES_SHOWN = 12;

/** Creates the domain of a path that holds one of the given texts. */
export function createTextDomain(values: readonly string[]): ListedDomain {
  const shown = values.slice(0, VALUES_SHOWN).map((value) => JSON.stringify(value));
  const more = values.length - shown.length;
  return Object.freeze({
    values,
    described: `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    nearest: (given: Json) => (typeof given === 'string' ? didYouMean(given, values) : ''),
  });
}

/** Creates the domain of a path whose values are stored in one form. */
export function createStoredDomain(toStored: StoredDomain['toStored']): StoredDomain {
  return Object.freeze({
    toStored,
    described: 'the form in which values are stored',
    nearest: (given: Json) => ` (did you mean ${JSON.stringify(String(toStored(given)).slice(0, 60))}?)`,
  });
}

/** The description of a domain of whole numbers. */
interface NumberDomainOptions extends Pick<DescribedDomain, 'describeWrapped'> {
  /** The noun for messages: `an hour`. */
  readonly noun: string;
  /** Other ways to write a value, in lower case: `sun` and `0` for Sunday. */
  readonly alsoWritten?: ReadonlyMap<string, number>;
}

/** Creates the domain of a path that holds a whole number from `first` to `last`. */
export function createNumberDomain(first: number, last: number, { noun, alsoWritten, describeWrapped }: NumberDomainOptions): ListedDomain {
  const toNearest = (given: Json): number | undefined => {
    const alias = alsoWritten?.get(String(given).toLowerCase());
    if (alias !== undefined) return alias;
    const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    return typeof number === 'number' && Number.isFinite(number) ? Math.min(Math.max(Math.round(number), first), last) : undefined;
  };
  return Object.freeze({
    values: Array.from({ length: last - first + 1 }, (_, index) => first + index),
    described: `${noun} from ${first} to ${last}`,
    nearest(given: Json) {
      const near = toNearest(given);
      return near === undefined ? '' : ` (did you mean ${near}?)`;
    },
    ...(describeWrapped !== undefined && { describeWrapped }),
  });
}
