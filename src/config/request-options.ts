/** The options that limit requests, lists and policies: the last rows of the table of config options. */
export const REQUEST_OPTIONS = {
  rateLimit: {
    group: 'requests',
    default: 60_000,
    range: [0, 1e9],
    about: 'maximum requests per minute and address; 0 disables the limit',
  },
  bodyBytes: {
    group: 'requests',
    default: 1_048_576,
    range: [1024, 1e9],
    about: 'maximum bytes of a request body, in which an object has at most 20,000 members and a list at most a million items',
  },
  anonymousBodyBytes: {
    group: 'requests',
    default: 65_536,
    range: [1024, 1e9],
    about: 'maximum bytes of a request body without a token; for a larger body, the token is verified before the body is read',
  },
  importBytes: {
    group: 'requests',
    default: 16_777_216,
    range: [1024, 1e9],
    about: 'maximum bytes of an import body that is a single JSON object',
  },
  importStreamBytes: {
    group: 'requests',
    default: 4_294_967_296,
    range: [1024, 1e13],
    about: 'maximum bytes of a streamed import body (NDJSON, CSV or a JSON array)',
  },
  importRows: { group: 'requests', default: 5000, range: [1, 1_000_000], about: 'maximum records of an atomic import' },
  jsonDepth: { group: 'requests', default: 64, range: [4, 500], about: 'maximum nesting depth of a request body' },
  ifMatch: {
    group: 'requests',
    values: ['optional', 'required'],
    default: 'optional',
    about: '`required`: updates and deletions of records, policies and assignments without `If-Match` fail with 428',
  },
  cascadeMax: {
    group: 'requests',
    default: 10_000,
    range: [0, 1_000_000],
    about: 'maximum records deleted by cascade, or restored with them, per request or batch',
  },
  writeMilliseconds: {
    group: 'requests',
    default: 250,
    range: [1, 60_000],
    about:
      'SQLite: maximum milliseconds in which an atomic import, a restore or a batch writes, because all other requests wait meanwhile; it then fails and stores nothing',
  },
  batchItems: { group: 'requests', default: 100, range: [1, 10_000], about: 'maximum requests in a batch' },

  pageDefault: { group: 'lists', default: 50, range: [1, 100_000], about: 'records per page if the request has no `limit`' },
  pageMax: { group: 'lists', default: 1000, range: [1, 100_000], about: 'maximum `limit` of a list' },
  exportMax: { group: 'lists', default: 10_000, range: [1, 1_000_000], about: 'maximum `limit` of an export' },
  whereItems: { group: 'lists', default: 20, range: [1, 100], about: 'maximum comparisons in a filter' },
  filterListItems: {
    group: 'lists',
    default: 1000,
    range: [1, 100_000],
    about: 'maximum values of a list operator such as `in` in a filter',
  },
  sortKeys: { group: 'lists', default: 5, range: [1, 20], about: 'maximum fields in `sort`' },
  expandMax: { group: 'lists', default: 2000, range: [0, 100_000], about: 'maximum records added by `expand` per request or batch' },
  scanRows: {
    group: 'lists',
    default: 1_000_000,
    range: [1, 1e9],
    about:
      'maximum rows that the lists and searches of a request or batch examine; the page then ends early, with a warning and `nextCursor`',
  },
  scanMilliseconds: {
    group: 'lists',
    default: 2000,
    range: [0, 60_000],
    about:
      'maximum milliseconds that the lists and searches of a request or batch take, in SQL or in memory; the page then ends early, with a warning and `nextCursor`',
  },
  answerBytes: {
    group: 'lists',
    default: 8_388_608,
    range: [65_536, 1e9],
    about:
      'maximum bytes of a JSON response with records, or of a page of policies with their rules; a page then ends early, with a warning and `nextCursor`, and a request of a batch fails',
  },
  adminMilliseconds: {
    group: 'requests',
    default: 30_000,
    range: [100, 600_000],
    about:
      'maximum milliseconds that the searches of a request to an admin endpoint take, or in which an import of policies writes; it then fails',
  },
  anonymousBudget: {
    group: 'lists',
    default: 25,
    range: [1, 100],
    about: 'percentage of `scanRows`, `scanMilliseconds`, `answerBytes` and `writeMilliseconds` that applies to callers without a token',
  },

  assignmentsCached: {
    group: 'policies',
    default: 300_000,
    range: [1000, 100_000_000],
    about:
      'maximum user assignments cached in memory, and maximum policies and rules that only users have; those of the latest requests stay cached',
  },
  importPolicies: {
    group: 'policies',
    default: 10_000,
    range: [1, 100_000],
    about: 'maximum policies in a policy import, and maximum assignments of each',
  },
  policyRules: { group: 'policies', default: 1000, range: [1, 10_000], about: 'maximum rules in a policy' },
  conditionDepth: { group: 'policies', default: 16, range: [1, 100], about: 'maximum nesting depth of a condition' },
  conditionReferences: { group: 'policies', default: 4, range: [1, 8], about: 'maximum references that a path of a condition follows' },
  conditionRelatedRecords: {
    group: 'policies',
    default: 1000,
    range: [1, 10_000],
    about:
      'maximum related records that a condition counts, and items of a list of references that a path follows; with more, it is unknown',
  },
  conditionComparisons: { group: 'policies', default: 200, range: [1, 10_000], about: 'maximum comparisons in a rule' },
  conditionListItems: { group: 'policies', default: 10_000, range: [1, 1_000_000], about: 'maximum values in a list of a condition' },
  conditionTextLength: { group: 'policies', default: 10_000, range: [1, 1_000_000], about: 'maximum characters of a text in a condition' },
  expressionLength: { group: 'policies', default: 4096, range: [1, 100_000], about: 'maximum characters of an expression' },
  expressionDepth: { group: 'policies', default: 32, range: [1, 250], about: 'maximum nesting depth of an expression' },
} as const;
