import { foldCase } from '../../fold-case.ts';

/**
 * The name of the SQL function that folds case like `foldCase`. PostgreSQL's `lower()` depends on the locale and the Unicode version of the
 * server. The name contains the Unicode version of this process, so that processes with different Unicode versions use different functions.
 */
export const FOLD_CASE: string = `bailiwick_fold_case_${process.versions['unicode']?.replaceAll('.', '_') ?? ''}`;

let cached: string | undefined;

/** Returns the SQL that creates the function. Case folding works character by character, so a table of characters defines it. */
export function foldCaseSql(): string {
  cached ??= renderSql();
  return cached;
}

function renderSql(): string {
  let [from, to] = ['', ''];
  const longer: (readonly [string, string])[] = [];
  for (const character of lettersWithCase()) {
    const folded = foldCase(character);
    if (Array.from(folded).length === 1) [from, to] = [from + character, to + folded];
    else longer.push([character, folded]);
  }
  const one = `translate(given, ${quote(from)}, ${quote(to)})`;
  const all = longer.reduce((inner, [character, folded]) => `replace(${inner}, ${quote(character)}, ${quote(folded)})`, one);
  // Most texts are ASCII and need no table.
  const body = `SELECT CASE WHEN octet_length(given) = char_length(given) THEN upper(given COLLATE "C") ELSE ${all} END`;
  return `CREATE OR REPLACE FUNCTION ${FOLD_CASE}(given text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $fold$${body}$fold$`;
}

/** Ranges of scripts without case, which contain most characters; they are skipped. */
const WITHOUT_CASE: readonly (readonly [number, number])[] = [
  [0x3400, 0x9fff],
  [0xac00, 0xf8ff],
];
const LAST_WITH_CASE = 0x1ffff;
/** The number of characters that are compared at once: most blocks have no letter with case. */
const BLOCK = 64;

function hasCase(first: number): boolean {
  const block = String.fromCodePoint(...Array.from({ length: BLOCK }, (_, index) => first + index));
  return foldCase(block) !== block;
}

function* lettersWithCase(): Generator<string> {
  for (let point = 1; point <= LAST_WITH_CASE; point++) {
    const skipped = WITHOUT_CASE.find(([first, last]) => point >= first && point <= last);
    if (skipped !== undefined) point = skipped[1];
    else if (point % BLOCK === 0 && !hasCase(point)) point += BLOCK - 1;
    else if (foldCase(String.fromCodePoint(point)) !== String.fromCodePoint(point)) yield String.fromCodePoint(point);
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
