/** Marks what `sql` makes. Nothing that comes from outside can have it: whatever else stands in a text is bound. */
const PIECE: unique symbol = Symbol('sql');

/** A piece of SQL with the values that stand in it, to be put into others. `T` is what it answers, for who reads the program. */
export interface Sql<T = unknown> {
  readonly [PIECE]: true;
  /** What stands before each part, and behind the last. */
  readonly texts: readonly string[];
  /** Pieces, and values to be bound. */
  readonly parts: readonly unknown[];
  /** Never there. */
  readonly answers?: T;
}

/** How pieces of SQL are made. */
interface Maker {
  /** What is put into the text is a piece, or is bound as a value. */
  <T = unknown>(texts: TemplateStringsArray, ...parts: readonly unknown[]): Sql<T>;
  /** Text as it stands. Never of anybody else's making. */
  raw<T = unknown>(text: string): Sql<T>;
  /** The name of a column, with that of its table before it where it has one, in quotes. */
  ref<T = unknown>(name: string): Sql<T>;
  /** The name of a table, in quotes. */
  table<T = unknown>(name: string): Sql<T>;
  /** Pieces and values one behind the other, by default with commas between. */
  join<T = unknown>(parts: readonly unknown[], separator?: Sql): Sql<T>;
  /** A value in the text itself, where a database takes none from elsewhere, or has to see it when it plans. Never one of a caller's making. */
  lit<T = unknown>(value: string | number | bigint): Sql<T>;
}

/** Makes pieces of SQL: a template whose values are bound, never written into the text. */
export const sql: Maker = Object.assign(<T>(texts: readonly string[], ...parts: readonly unknown[]) => toPiece<T>(texts, parts), {
  raw: <T>(text: string) => toPiece<T>([text], []),
  ref: toName,
  table: toName,
  join,
  lit: <T>(value: string | number | bigint) => toPiece<T>([toLiteral(value)], []),
});

/** The text of a statement, and the values bound in it. */
interface Composed {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * Puts a statement together.
 *
 * @param placeholder How its text marks the place of its nth value, counted from 1.
 */
export function renderSql(piece: Sql, placeholder: (nth: number) => string): Composed {
  const parameters: unknown[] = [];
  const textOf = ({ texts, parts }: Sql): string => {
    let text = texts[0] ?? '';
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      text += isPiece(part) ? textOf(part) : placeholder(parameters.push(part));
      text += texts[index + 1] ?? '';
    }
    return text;
  };
  return { sql: textOf(piece), parameters };
}

function toPiece<T>(texts: readonly string[], parts: readonly unknown[]): Sql<T> {
  return { [PIECE]: true, texts, parts };
}

function isPiece(part: unknown): part is Sql {
  return typeof part === 'object' && part !== null && PIECE in part;
}

/** A value as it is written into a text. It has no NUL, and no database that we speak to reads a backslash there. */
export function toLiteral(value: string | number | bigint): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  // Digits alone would be read as an integer, and not all that JavaScript writes of so large a number are its own.
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}

/** Both databases quote names alike. */
function toName<T>(name: string): Sql<T> {
  return toPiece<T>([`"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`], []);
}

function join<T>(parts: readonly unknown[], separator: Sql = COMMA): Sql<T> {
  const joined = parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
  return toPiece<T>(
    joined.map(() => ''),
    joined,
  );
}

const COMMA: Sql = toPiece([', '], []);
