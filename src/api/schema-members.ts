/** Members that the schemas of several endpoints share. */
import { type Schema, Type } from '../schemas/index.ts';

/** Maximum number of characters of an id, a name or a code in a request. */
export const MAX_NAME_LENGTH = 200;

/** A text in a response. */
export const TEXT = Type.String();
/** An id that the service created. */
export const ID = Type.String({ format: 'uuid' });
/** A timestamp in a response. */
export const TIMESTAMP = Type.String({ format: 'date-time' });
/** A number of things. */
export const COUNT = Type.Integer({ minimum: 0 });

/** The member `count` of a list. */
export const COUNTED = { count: Type.Integer({ minimum: 0, description: 'Number of items in `data`.' }) } as const;
/** The member `nextCursor` of a page. */
export const PAGED = {
  ...COUNTED,
  nextCursor: Type.Optional(Type.String({ description: 'Cursor of the next page; absent on the last.' })),
} as const;
/** The members of a page that ends early if its items are large. */
export const PAGED_BY_SIZE = {
  ...PAGED,
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'A warning if the page ends early, because it would be too large.' })),
} as const;

/** Returns the warning of a page that ends early. */
export function pageEnded(bytes: number): string {
  return `the page ends early at the limit of ${bytes} bytes (answerBytes); nextCursor continues the list`;
}

/** The member `message` of a change. */
export const MESSAGE = { message: Type.String({ description: 'What was changed.' }) } as const;
/** The member `success` of a successful response. */
export const SUCCESS = { success: Type.Unsafe<true>({ const: true }) } as const;
/** The body of a response without data. */
export const DONE = Type.Object({ ...SUCCESS, message: TEXT });

/** Creates the schema of a name or an id in a request. */
export function name(description: string) {
  return Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, format: 'text', description });
}

/** Creates the schema of the parameter `limit`. */
export function limit({ max, fallback, of }: { readonly max: number; readonly fallback: number; readonly of: string }) {
  return Type.Optional(
    Type.Integer({ minimum: 1, maximum: max, description: `Maximum number of ${of} in the page. Default: ${fallback}.` }),
  );
}

/** Creates the schema of the parameter `cursor`. */
export function cursor(maxLength = 200) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, description: '`nextCursor` of the previous page.' }));
}

/** Creates the schema of an NDJSON text whose lines match `schema`. OpenAPI has no type for NDJSON. */
export function lineByLine(schema: Schema) {
  return Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/x-ndjson', contentSchema: schema });
}
