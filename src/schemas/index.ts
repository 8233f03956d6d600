/**
 * The types of schemas. An endpoint states its query, its body and its responses once, as JSON Schemas with static types: `validation/` validates
 * requests with them, and `api/openapi/` describes them.
 *
 * This folder knows no endpoint, and no member of a request.
 * Begin with `schema-types.ts`.
 */
export {
  component,
  componentName,
  described,
  INTERNAL_KEYWORDS,
  Input,
  Nullable,
  type ObjectSchema,
  OneOf,
  type Rendered,
  type Schema,
  type SchemaOf,
  Type,
  type TypeOf,
} from './schema-types.ts';
