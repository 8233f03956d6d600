import { didYouMean } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { toMeantPath } from './foreign-reference.ts';

/** The values that a path can have, where definitions list them or a clock counts them. */
export interface ValueDomain {
  /** All of them: an enum has at most 200. */
  readonly values: readonly (string | number)[];
  /** The values in messages: `one of "open", "closed"`. */
  readonly described: string;
  /** Returns the value that was probably meant by a literal outside the domain. */
  nearest(given: Json): string;
  /** The alternative to `between` with reversed bounds, for values that start again after the last. */
  readonly describeWrapped?: (low: number, high: number) => string;
}

/** Values that a message lists. */
const VALUES_SHOWN = 12;

/** The domain of a path that holds one of a list of texts. */
export function createTextDomain(values: readonly string[]): ValueDomain {
  const shown = values.slice(0, VALUES_SHOWN).map((value) => JSON.stringify(value));
  const more = values.length - shown.length;
  return Object.freeze({
    values,
    described: `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    nearest: (given: Json) => (typeof given === 'string' ? didYouMean(given, values) : ''),
  });
}

/** The description of a domain of whole numbers. */
interface NumberDomainOptions extends Pick<ValueDomain, 'describeWrapped'> {
  /** `an hour`. */
  readonly noun: string;
  /** Other ways to write a value, in lower case: `sun` and `0` for Sunday. */
  readonly alsoWritten?: ReadonlyMap<string, number>;
}

/** The domain of a path that holds a whole number from `first` to `last`. */
export function createNumberDomain(first: number, last: number, { noun, alsoWritten, describeWrapped }: NumberDomainOptions): ValueDomain {
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

/** Returns the message for a literal outside the domain of `name`, with the value that was probably meant. */
export function describeOutside(given: Json, name: string, domain: ValueDomain): string {
  const meant = typeof given === 'string' ? toMeantPath(given) : undefined;
  const hint = meant === undefined ? domain.nearest(given) : `; a reference is written \${${meant}}`;
  return `${describeValue(given)} is no value of ${name}: expected ${domain.described}${hint}`;
}
