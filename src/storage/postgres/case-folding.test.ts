import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldCase } from '../../fold-case.ts';
import type { Database } from '../contract.ts';
import { FOLD_CASE, foldCaseSql } from './case-folding.ts';
import { openFamily } from './postgres.fixture.ts';

const { open, runSql, close } = openFamily('storage_postgres_case_folding');

let database: Database;
beforeAll(async () => {
  database = await open();
  await database.probe();
  await runSql(foldCaseSql());
});
afterAll(() => close(database));

/** The characters of planes 0 and 1 except NUL and surrogates. */
const CHARACTERS: readonly string[] = Array.from({ length: 0x20000 }, (_, point) => point)
  .filter((point) => point > 0 && !(point >= 0xd800 && point <= 0xdfff))
  .map((point) => String.fromCodePoint(point));
const LETTERS = CHARACTERS.filter((character) => foldCase(character) !== character);

const TEXTS = [
  '',
  'Plain ASCII',
  "It's 5 o'clock — “really”… 100 %",
  'Trois Élèves à l’École, ŒUVRE, straße, ŉ, İstanbul, ıı',
  'Ελληνικά ΣΊΣΥΦΟΣ σίσυφος ΐ ᾳ',
  'Русский ЁЖ Ґ Ӂ ԯ',
  '日本語 のテキスト',
  'Kelvin K, Ångström Å, ẞ, ﬁ ﬄ, ᲀ, 𐐨𞤢, Ａｂｃ',
  'é Σ я 漢 ẞ mixed',
];

it('folds the case of every character, alone and beside letters of one script, as the service does', async () => {
  const texts = [...TEXTS, ...CHARACTERS, ...['é', 'я', 'σ'].flatMap((letter) => LETTERS.map((other) => `${letter}${other}`))];
  const { rows } = await runSql(
    `SELECT ${FOLD_CASE}(given) AS "folded" FROM unnest($1::text[]) WITH ORDINALITY AS t (given, n) ORDER BY n`,
    [texts],
  );
  expect(rows.map((row: { folded: string }) => row.folded)).toEqual(texts.map(foldCase));
});
