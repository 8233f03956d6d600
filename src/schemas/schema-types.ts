/** The types of schemas. Most are TypeBox's; the others are named here. */
import * as TypeBox from 'typebox';
import type { JsonObject } from '../operators/index.ts';
import { DESCRIBED_ONLY } from '../validation/index.ts';

/** The TypeBox types that endpoints use. The package contains only these, because the bundle leaves out the rest of TypeBox. */
export const Type = {
  Array: TypeBox.Array,
  Boolean: TypeBox.Boolean,
  Integer: TypeBox.Integer,
  Literal: TypeBox.Literal,
  Null: TypeBox.Null,
  Number: TypeBox.Number,
  Object: TypeBox.Object,
  Optional: TypeBox.Optional,
  Record: TypeBox.Record,
  String: TypeBox.String,
  Union: TypeBox.Union,
  Unknown: TypeBox.Unknown,
  Unsafe: TypeBox.Unsafe,
} as const;

/** Any schema. */
export type Schema = TypeBox.TSchema;

/** The schema of an object with these members. */
export type ObjectSchema<P extends TypeBox.TProperties = TypeBox.TProperties> = TypeBox.TObject<P>;

/** A schema whose static type is `T`. */
export type SchemaOf<T> = TypeBox.TUnsafe<T>;

/** The static type of the values that match a schema. */
export type TypeOf<S extends TypeBox.TSchema> = TypeBox.Static<S>;

/**
 * The static type of a value that is rendered as JSON and matches a schema. Unlike `TypeOf`, it accepts read-only values, and
 * `undefined` for optional members, which `JSON.stringify` leaves out.
 */
export type RenderedOf<S extends TypeBox.TSchema> = Rendered<TypeOf<S>>;

/** `RenderedOf` for a static type. */
export type Rendered<T> = T extends readonly (infer Item)[]
  ? readonly Rendered<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Rendered<T[K]> | (undefined extends T[K] ? undefined : never) }
    : T;

/** Creates the schema of an object in a request. Unknown members are refused. */
export function Input<const P extends TypeBox.TProperties>(properties: P, options: TypeBox.TObjectOptions = {}): TypeBox.TObject<P> {
  return TypeBox.Object(properties, { ...options, additionalProperties: false });
}

/** Creates the schema of one of several texts. */
export function OneOf<const V extends readonly string[]>(values: V, options: JsonObject = {}): TypeBox.TUnsafe<V[number]> {
  return TypeBox.Unsafe<V[number]>({ ...options, type: 'string', enum: [...values] });
}

/** Creates a schema that also accepts null. The schema must have a single type. */
export function Nullable<S extends TypeBox.TSchema>(schema: S): TypeBox.TUnsafe<TypeBox.Static<S> | null> {
  const { type } = schema as { readonly type?: unknown };
  if (typeof type !== 'string') return TypeBox.Unsafe<TypeBox.Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
  return TypeBox.Unsafe<TypeBox.Static<S> | null>({ ...schema, type: [type, 'null'] });
}

/** The member of a schema that contains its name. */
const COMPONENT = 'x-component';

/** Names of the members that the OpenAPI document leaves out. */
export const INTERNAL_KEYWORDS: readonly string[] = [DESCRIBED_ONLY, COMPONENT];

/** Creates a schema that only describes a value: code validates it, with more knowledge than a schema has, such as the definitions. */
export function described<T>(schema: object): SchemaOf<T> {
  return TypeBox.Unsafe<T>({ ...schema, [DESCRIBED_ONLY]: true });
}

/** Gives a schema a name. The OpenAPI document shows it once, among its components, and refers to it by this name. */
export function component<S extends TypeBox.TSchema>(name: string, schema: S): S {
  return Object.assign(schema, { [COMPONENT]: name });
}

/** Returns the name of a schema; undefined if it has none. */
export function componentName(schema: JsonObject): string | undefined {
  const name = schema[COMPONENT];
  return typeof name === 'string' ? name : undefined;
}
