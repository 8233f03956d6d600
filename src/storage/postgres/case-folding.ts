import { foldCase } from '../../fold-case.ts';

/**
 * The name of the SQL function that folds case like `foldCase`. PostgreSQL's `lower()` depends on the locale and the Unicode version of the
 * server. The name contains the Unicode version of this process, so that processes with different Unicode versions use different functions.
 */
export const FOLD_CASE: string = `bailiwick_fold_case_2_${process.versions['unicode']?.replaceAll('.', '_') ?? ''}`;

let cached: string | undefined;

/** Returns the SQL that creates the function. Case folding works character by character, so tables of characters define it. */
export function foldCaseSql(): string {
  cached ??= renderSql();
  return cached;
}

/** A letter with case outside of ASCII, and its folded form, which may have several characters. */
interface CasedLetter {
  readonly point: number;
  readonly letter: string;
  readonly folded: string;
}

/** The code points outside of ASCII of Latin, Cyrillic and Greek letters. Most texts have letters of one of these scripts. */
const SCRIPTS: readonly (readonly (readonly [first: number, last: number])[])[] = [
  [
    [0x80, 0x24f],
    [0x1e00, 0x1eff],
  ],
  [[0x400, 0x52f]],
  [
    [0x370, 0x3ff],
    [0x1f00, 0x1fff],
  ],
];

/**
 * Renders the function. The time of `translate` grows with the place of a character in its table, so most texts use no table or a small one, in which
 * frequent characters come first.
 */
function renderSql(): string {
  const letters = [...lettersWithCase()];
  const cases = SCRIPTS.map((ranges) => {
    const isOwn = ({ point }: CasedLetter): boolean => ranges.some(([first, last]) => point >= first && point <= last);
    const [own, others] = [letters.filter(isOwn), letters.filter((letter) => !isOwn(letter))];
    return `WHEN ${hasNone(others)} THEN ${foldWith(own)}`;
  });
  const body = `SELECT CASE WHEN ${hasNone(letters)} THEN ${UPPER} ${cases.join(' ')} ELSE ${foldWith(letters)} END`;
  return `CREATE OR REPLACE FUNCTION ${FOLD_CASE}(given text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $fold$${body}$fold$`;
}

/** Maximum distance of the code points of two letters in a range. */
const GAP = 64;
/** The text with its ASCII letters in upper case. */
const UPPER = 'upper(given COLLATE "C")';
/** Characters that `translate` keeps. Most characters of a text are among them. */
const FREQUENT = ' ETAOINSHRDLUCMFWYPVBGKJQXZ.,-0123456789\'"’“”–—:;!?()\n';

/** Renders the condition that a text has no character in the ranges of these letters. Letters that are close share a range, which may contain other characters. */
function hasNone(letters: readonly CasedLetter[]): string {
  const ranges: [number, number][] = [];
  for (const { point } of letters) {
    const last = ranges.at(-1);
    if (last !== undefined && point - last[1] <= GAP) last[1] = point;
    else ranges.push([point, point]);
  }
  const all = ranges.map((range) => range.map((point) => String.fromCodePoint(point)).join('-')).join('');
  return `given COLLATE "C" !~ '[${all}]'`;
}

/** Renders the folding of a text whose letters with case are ASCII or among these. */
function foldWith(letters: readonly CasedLetter[]): string {
  const isLonger = ({ folded }: CasedLetter): boolean => Array.from(folded).length > 1;
  const [single, longer] = [letters.filter((letter) => !isLonger(letter)), letters.filter(isLonger)];
  const [from, to] = [single.map(({ letter }) => letter), single.map(({ folded }) => folded)].map((all) => quote(FREQUENT + all.join('')));
  return longer.reduce(
    (inner, { letter, folded }) => `replace(${inner}, ${quote(letter)}, ${quote(folded)})`,
    `translate(${UPPER}, ${from}, ${to})`,
  );
}

/** Ranges of scripts without case, which contain most characters; they are skipped. */
const WITHOUT_CASE: readonly (readonly [number, number])[] = [
  [0x3400, 0x9fff],
  [0xac00, 0xf8ff],
];
/** The first character after ASCII, and the last one that may have case. */
const [FIRST_WITH_CASE, LAST_WITH_CASE] = [0x80, 0x1ffff];
/** The number of characters that are compared at once: most blocks have no letter with case. */
const BLOCK = 64;

function hasCase(first: number): boolean {
  const block = String.fromCodePoint(...Array.from({ length: BLOCK }, (_, index) => first + index));
  return foldCase(block) !== block;
}

function* lettersWithCase(): Generator<CasedLetter> {
  for (let point = FIRST_WITH_CASE; point <= LAST_WITH_CASE; point++) {
    const skipped = WITHOUT_CASE.find(([first, last]) => point >= first && point <= last);
    if (skipped !== undefined) point = skipped[1];
    else if (point % BLOCK === 0 && !hasCase(point)) point += BLOCK - 1;
    else {
      const letter = String.fromCodePoint(point);
      const folded = foldCase(letter);
      if (folded !== letter) yield { point, letter, folded };
    }
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
