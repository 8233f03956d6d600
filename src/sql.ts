/** The property that marks a fragment. Data from outside cannot have the symbol, so it is always bound as a parameter. */
const FRAGMENT: unique symbol = Symbol('sql');

/** A fragment of SQL with its parameters. `T` documents the type of the expression. */
export interface Sql<T = unknown> {
  readonly [FRAGMENT]: true;
  /** The SQL texts between the parts: one before each part and one after the last part. */
  readonly texts: readonly string[];
  /** Fragments, and values that become parameters. */
  readonly parts: readonly unknown[];
  /** Never present; it binds the type parameter. */
  readonly resultType?: T;
}

/** The template tag `sql` and its helpers. */
interface SqlTag {
  /** Creates a fragment. A fragment among the parts is inserted, every other value is bound as a parameter. */
  <T = unknown>(texts: TemplateStringsArray, ...parts: readonly unknown[]): Sql<T>;
  /** Inserts a text unchanged. Only for constants of the program. */
  raw<T = unknown>(text: string): Sql<T>;
  /** Quotes the name of a column, optionally with its table: `Article.title`. */
  ref<T = unknown>(name: string): Sql<T>;
  /** Quotes the name of a table. */
  table<T = unknown>(name: string): Sql<T>;
  /** Joins fragments and values, by default with commas. */
  join<T = unknown>(parts: readonly unknown[], separator?: Sql): Sql<T>;
  /** Renders a value as a literal, where a database accepts no parameter or plans worse with one. Only for constants of the program. */
  lit<T = unknown>(value: string | number | bigint): Sql<T>;
}

/** Creates fragments of SQL from a template. Values are bound as parameters, never written into the text. */
export const sql: SqlTag = Object.assign(<T>(texts: readonly string[], ...parts: readonly unknown[]) => toFragment<T>(texts, parts), {
  raw: <T>(text: string) => toFragment<T>([text], []),
  ref: toName,
  table: toName,
  join,
  lit: <T>(value: string | number | bigint) => toFragment<T>([toLiteral(value)], []),
});

/** The text of a statement and its parameters. */
interface RenderedSql {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * Renders a fragment to the text of a statement and its parameters.
 *
 * @param placeholder Renders the placeholder of the nth parameter, counted from 1.
 */
export function renderSql(fragment: Sql, placeholder: (nth: number) => string): RenderedSql {
  const parameters: unknown[] = [];
  const textOf = ({ texts, parts }: Sql): string => {
    let text = texts[0] ?? '';
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      text += isFragment(part) ? textOf(part) : placeholder(parameters.push(part));
      text += texts[index + 1] ?? '';
    }
    return text;
  };
  return { sql: textOf(fragment), parameters };
}

/** Returns a fragment with the same text and values that contains no other fragments. Rendering it takes a fraction of the time. */
export function flattenSql<T>(fragment: Sql<T>): Sql<T> {
  // No SQL contains NUL.
  const { sql: text, parameters } = renderSql(fragment, () => '\0');
  return toFragment<T>(text.split('\0'), parameters);
}

function toFragment<T>(texts: readonly string[], parts: readonly unknown[]): Sql<T> {
  return { [FRAGMENT]: true, texts, parts };
}

function isFragment(part: unknown): part is Sql {
  return typeof part === 'object' && part !== null && FRAGMENT in part;
}

/** Renders a value as an SQL literal. Texts must not contain NUL. Backslashes need no escape in SQLite or PostgreSQL. */
export function toLiteral(value: string | number | bigint): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  // Without an exponent, a large number would be parsed as an integer, and the last digits that JavaScript prints are not exact.
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}

/** Quotes a name, or the two parts of `Table.column`. SQLite and PostgreSQL use the same quotes. */
function toName<T>(name: string): Sql<T> {
  return toFragment<T>([`"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`], []);
}

function join<T>(parts: readonly unknown[], separator: Sql = COMMA): Sql<T> {
  const joined = parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
  return toFragment<T>(
    joined.map(() => ''),
    joined,
  );
}

const COMMA: Sql = toFragment([', '], []);
