import { SINGLE_DECISION_ACTIONS } from '../actions.ts';
import { EFFECTS } from '../authz/policies/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { described, Input, OneOf, type SchemaOf, Type, type TypeOf } from '../schemas/index.ts';

const MAX_NAMED = 10_000;
const MAX_TESTS = 10_000;
const MAX_TEXT = 500;

/** The user of a request without a token. */
export const ANONYMOUS = 'anon';

const NAME = Type.String({ minLength: 1, maxLength: 200, format: 'line' });
const NAMES = Type.Array(NAME, { maxItems: MAX_NAMED });
const VALUES = described<JsonObject>({ type: 'object', description: 'Values of fields.' });

function named<T>(schema: SchemaOf<T>, description: string) {
  return Type.Record(NAME, schema, { description, maxProperties: MAX_NAMED });
}

const ENVIRONMENT = Input({
  timestamp: Type.Optional(Type.String({ format: 'date-time', maxLength: 100, description: 'The time of the request.' })),
  ip: Type.Optional(Type.String({ format: 'ip', maxLength: 100, description: 'The IP address of the client.' })),
  method: Type.Optional(
    OneOf(['GET', 'POST', 'PUT', 'DELETE'], { description: 'The method of the request. Default: that of the endpoint of the action.' }),
  ),
  path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      format: 'line',
      description: 'The path of the request, such as `/api/batch`. Default: that of the endpoint of the action.',
    }),
  ),
});

const TESTED_ACTION = OneOf(SINGLE_DECISION_ACTIONS);

const ALLOWED_RECORDS = Type.Union([Type.Literal('all'), NAMES]);

/** The records that a list shows, or DENY if it is refused. */
const LISTED = Type.Union([Type.Literal('DENY'), NAMES]);

/** A test: a matrix (`allow`), one request (`action`, `expect`), or lists (`list`). */
const POLICY_TEST = Input({
  name: Type.String({ minLength: 1, maxLength: MAX_TEXT, format: 'line', description: 'A sentence that says what the policies do.' }),
  resource: Type.String({ maxLength: 63, description: 'Name of the resource.' }),
  environment: Type.Optional(ENVIRONMENT),
  users: Type.Optional(
    Type.Array(NAME, { maxItems: MAX_NAMED, description: 'Users of a matrix. Default: all users of the file, and `anon`.' }),
  ),
  records: Type.Optional(
    Type.Array(NAME, { maxItems: MAX_NAMED, description: 'Records of a matrix. Default: all records of the resource.' }),
  ),
  actions: Type.Optional(Type.Array(TESTED_ACTION, { maxItems: 20, description: 'Actions of a matrix. Default: the actions in `allow`.' })),
  allow: Type.Optional(
    Type.Record(NAME, Type.Record(NAME, ALLOWED_RECORDS), {
      description: 'What the matrix allows: user, action, and the names of the records, or `all`. Everything else must be denied.',
    }),
  ),
  action: Type.Optional(TESTED_ACTION),
  record: Type.Optional(NAME),
  data: Type.Optional(described<Json>({ description: 'The data of a create or an update.' })),
  expect: Type.Optional(Type.Record(NAME, OneOf(EFFECTS), { description: 'The expected effect for each user.' })),
  list: Type.Optional(
    Type.Record(NAME, LISTED, {
      description: 'The names of exactly the records that a list of the resource shows each user, or `DENY` if the list is refused.',
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: MAX_TEXT, description: 'Text that the reason of each decision contains.' })),
});

/** A test file. */
export const POLICY_TEST_FILE = Input({
  now: Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: 100,
      description: 'The time of all requests, and of new records. Default: the current time.',
    }),
  ),
  users: Type.Optional(named(VALUES, 'Users by id: the values of their fields. The default role is `user`.')),
  assignments: Type.Optional(Type.Record(NAME, NAMES, { description: 'Names of the policies that are assigned to a user.' })),
  records: Type.Optional(Type.Record(NAME, named(VALUES, 'Records by id.'), { description: 'Records by resource and id.' })),
  tests: Type.Array(POLICY_TEST, { maxItems: MAX_TESTS }),
});

/** A test as written in a file. */
export type WrittenTest = TypeOf<typeof POLICY_TEST>;

/** A test file as written. */
export type WrittenTestFile = TypeOf<typeof POLICY_TEST_FILE>;
