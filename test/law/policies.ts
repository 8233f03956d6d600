/** Generates random policies and cases for the law tests. */
import fc from 'fast-check';
import { describeLists, describePath, describeRelated } from '../../src/authz/context/index.ts';
import type { Policy } from '../../src/authz/policies/index.ts';
import { parseConditions } from '../../src/conditions/index.ts';
import { memoize } from '../../src/memoize.ts';
import { type Json, type JsonObject, OPERATORS, type Operator } from '../../src/operators/index.ts';
import type { Definitions } from '../../src/resources/index.ts';
import { LISTS, OPERANDS } from '../conformance/hostile-table.ts';
import { policyOf, type SomeRule, stateOf, toRole, toUser, type WholeState } from '../policy-fixtures.ts';
import { alternativeRules } from './alternatives.ts';
import type { LawCase } from './check.ts';
import { type LawPath, PATHS } from './data.ts';
import { EXPRESSIONS } from './expressions.ts';
import { LAW_LIMITS, NOW, type PrincipalName } from './law-fixture.ts';
import { ofCaller, relatedConditions } from './related.ts';
import { withinConditions } from './within.ts';

/** Maximum sizes of generated policies. */
interface Size {
  readonly policies: number;
  /** Of one policy. */
  readonly rules: number;
  /** Of nested groups. */
  readonly depth: number;
}

/** The time of a case grows with its comparisons. Most mistakes show in few of them, so most cases are small. */
const LARGE: Size = { policies: 3, rules: 4, depth: 4 };
const SMALL: Size = { policies: 2, rules: 2, depth: 2 };

const EVERYWHERE = [...PATHS.own, ...PATHS.hop, ...PATHS.list, ...PATHS.known];

/** A set of policies, and a list by each caller. */
export interface LawSet {
  readonly cases: readonly LawCase[];
  /** True to check the cases in one transaction. */
  readonly isTogether: boolean;
}

/** Generates sets of policies, each with a list by every caller. Of one set in twenty, a third of the records is decided one by one, of one in a hundred each. */
export function lawSets(definitions: Definitions): fc.Arbitrary<LawSet> {
  const orders = fc.array(ORDER, { minLength: CALLERS.length, maxLength: CALLERS.length });
  const apart = fc.oneof(
    { weight: 94, arbitrary: fc.constant({ isTogether: true }) },
    { weight: 5, arbitrary: fc.record({ isTogether: fc.constant(false), third: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.constant({ isTogether: false }) },
  );
  return fc.tuple(lawStates(definitions), orders, apart).map(([state, given, { isTogether, ...decided }]) => ({
    cases: CALLERS.map((who, index) => ({ state, who, ...decided, ...(given[index] as Order) })),
    isTogether,
  }));
}

/** Generates lists of things with policies, callers and page sizes. */
export function lawCases(definitions: Definitions): fc.Arbitrary<LawCase> {
  const who = fc.constantFrom<PrincipalName>('ann', 'ann', 'cid', 'token', 'anon');
  return fc.tuple(lawStates(definitions), who, ORDER).map(([state, caller, order]) => ({ state, who: caller, ...order }));
}

const CALLERS: readonly PrincipalName[] = ['ann', 'cid', 'token', 'anon'];

/** Generates policies. SQL can answer lists of half of them completely, or nearly. */
function lawStates(definitions: Definitions): fc.Arbitrary<WholeState> {
  const ofSize = (size: Size): fc.Arbitrary<WholeState> => fc.oneof(...[true, false].map((inSql) => states({ definitions, inSql, size })));
  return fc.oneof({ weight: 1, arbitrary: ofSize(LARGE) }, { weight: 5, arbitrary: ofSize(SMALL) });
}

/** Options of the rule generators. */
interface Vocabulary {
  readonly definitions: Definitions;
  /** Generate only conditions that SQL can express. */
  readonly inSql: boolean;
  readonly size: Size;
}

const SORTS = ['title', 'amount', 'size', 'price', 'active', 'day', 'at', 'ownerId', 'parentId', 'status', 'id', 'createdAt'];

type Order = Pick<LawCase, 'sort' | 'limit'>;
const ORDER: fc.Arbitrary<Order> = fc.record({
  sort: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.uniqueArray(fc.record({ field: fc.constantFrom(...SORTS), descending: fc.boolean() }), {
        maxLength: 2,
        selector: ({ field }) => field,
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom([], [{ field: 'size', descending: false }], [{ field: 'createdAt', descending: true }]) },
  ),
  // Small pages take many statements.
  limit: fc.oneof(
    { weight: 28, arbitrary: fc.constantFrom(40, 75, 150, 75) },
    { weight: 3, arbitrary: fc.constant(20) },
    { weight: 1, arbitrary: fc.constant(7) },
  ),
});

// Mostly equal, because ties are where an order can go wrong.
const priority = fc.constantFrom(99, 100, 100, 100, 101);
const mostly = fc.constantFrom(true, true, true, true, true, true, true, false);

function states(vocabulary: Vocabulary): fc.Arbitrary<WholeState> {
  const { size } = vocabulary;
  const someRules = fc.oneof(
    { weight: 3, arbitrary: fc.array(rules(vocabulary), { minLength: 1, maxLength: size.rules }) },
    { weight: 1, arbitrary: alternativeRules(alternativesOn('Thing', vocabulary)) },
  );
  const drafts = fc.array(fc.record({ rules: someRules, priority, isActive: mostly }), { minLength: 1, maxLength: size.policies });
  return drafts.chain((made) => {
    const policies: Policy[] = made.map(({ rules: some, ...others }, index) => policyOf(`p${index}`, some, others));
    const id = fc.constantFrom(...policies.map((policy) => policy.id));
    const expiresAt = fc
      .constantFrom(undefined, undefined, NOW - 1, NOW, NOW + 1)
      .map((at) => (at === undefined ? undefined : new Date(at).toISOString()));
    const toUsers = fc.tuple(fc.constantFrom('u-ann', 'u-cid', 'ext-1'), id, fc.record({ isActive: mostly, expiresAt }));
    const toRoles = fc.tuple(
      fc.constantFrom('user' as const, 'user' as const, 'editor' as const, 'anon' as const),
      id,
      fc.record({ isActive: mostly, priority }),
    );
    const pair = ([to, policy]: readonly [string, string, unknown]): string => `${to} ${policy}`;
    return fc
      .record({
        toUsers: fc.uniqueArray(toUsers, { minLength: 1, maxLength: 5, selector: pair }),
        toRoles: fc.uniqueArray(toRoles, { minLength: 2, maxLength: 6, selector: pair }),
      })
      .map((given) =>
        stateOf({
          policies,
          userPolicies: given.toUsers.map((one) => toUser(...one)),
          rolePolicies: given.toRoles.map((one) => toRole(...one)),
        }),
      );
  });
}

function rules(vocabulary: Vocabulary): fc.Arbitrary<SomeRule> {
  return fc.oneof(...['Thing', 'Thing', 'Thing', 'Thing', '*', '*', 'User'].map((resource) => ruleOn(resource, vocabulary)));
}

function ruleOn(resource: string, vocabulary: Vocabulary): fc.Arbitrary<SomeRule> {
  const condition = conditionOn(resource, vocabulary);
  return fc.record({
    resource: fc.constant(resource),
    action: fc.constantFrom('*', '*', '*', 'list', 'list', 'list', 'read'),
    effect: fc.constantFrom('ALLOW' as const, 'ALLOW' as const, 'DENY' as const),
    conditions: fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 6, arbitrary: fc.array(condition, { minLength: 1, maxLength: 2 }) },
    ),
    priority,
    isActive: mostly,
  });
}

/** Returns true for conditions that a policy may contain. The reference decider does not validate. */
function writableOn(resource: string, definitions: Definitions): (condition: JsonObject) => boolean {
  const reader = {
    at: '',
    expressions: true,
    limits: LAW_LIMITS.conditions,
    describePath: describePath(definitions, resource),
    listsOf: describeLists(definitions, resource),
    describeRelated: describeRelated(definitions),
  };
  return (condition) => parseConditions([condition], reader).issues.length === 0;
}

/** Generates conditions for alternatives. Those on related records are on users that the caller determines. */
function alternativesOn(resource: string, vocabulary: Vocabulary): Parameters<typeof alternativeRules>[0] {
  const isWritable = writableOn(resource, vocabulary.definitions);
  const related = ofCaller(comparisons(vocabulary.inSql).filter(isWritable)).filter(isWritable);
  return { any: conditionOn(resource, vocabulary), related };
}

/** The expressions that a rule on a resource may contain: parsing them takes a third of a second. */
const writable = new WeakMap<Definitions, Map<string, readonly JsonObject[]>>();

function conditionOn(resource: string, { definitions, inSql, size }: Vocabulary): fc.Arbitrary<JsonObject> {
  const isWritable = writableOn(resource, definitions);
  const expressions = memoize(
    memoize(writable, definitions, () => new Map<string, readonly JsonObject[]>()),
    resource,
    () => [...EXPRESSIONS.keys()].map((expression) => ({ expression })).filter(isWritable),
  );
  const leaves: fc.WeightedArbitrary<JsonObject>[] = [{ weight: 9, arbitrary: comparisons(inSql).filter(isWritable) }];
  if (expressions.length > 0 && !inSql) leaves.push({ weight: 2, arbitrary: fc.constantFrom<JsonObject>(...expressions) });
  // Fields of users are conditions on the caller in rules on users too.
  const within = withinConditions(inSql).filter(isWritable);
  if (resource !== 'User') leaves.push({ weight: 3, arbitrary: within });
  const members =
    resource === 'User'
      ? comparisons(inSql).filter(isWritable)
      : fc.oneof({ weight: 3, arbitrary: comparisons(inSql).filter(isWritable) }, within);
  leaves.push({ weight: 3, arbitrary: relatedConditions(members).filter(isWritable) });
  const leaf = fc.oneof(...leaves);
  const { condition } = fc.letrec<{ condition: JsonObject }>((tie) => {
    const some = fc.array(tie('condition'), { minLength: 1, maxLength: 3 });
    return {
      condition: fc.oneof(
        { maxDepth: size.depth, withCrossShrink: true },
        { weight: 5, arbitrary: leaf },
        { weight: 1, arbitrary: some.map((anyOf) => ({ anyOf })) },
        { weight: 1, arbitrary: some.map((allOf) => ({ allOf })) },
        { weight: 1, arbitrary: tie('condition').map((not) => ({ not })) },
      ),
    };
  });
  return condition;
}

/** Left sides by kind of comparison. Paths of the record are the most frequent. */
const LEFT_BY_KIND = Map.groupBy(
  [...PATHS.own, ...PATHS.own, ...PATHS.own, ...PATHS.hop, ...PATHS.list, ...PATHS.known],
  ({ kind }) => kind,
);

const IN_MEMORY_ONLY = ['matches', 'timeOfDayBetween', 'dayOfWeekIn', 'cidr', 'ncidr'];

/** Generates comparisons: first the operator, then the kind, each with equal weight. */
function comparisons(inSql: boolean): fc.Arbitrary<JsonObject> {
  const operators = [...OPERATORS.values()].filter(({ name }) => !inSql || !IN_MEMORY_ONLY.includes(name));
  return fc.oneof(...operators.map((operator) => comparisonsBy(operator, inSql)));
}

function comparisonsBy(operator: Operator, inSql: boolean): fc.Arbitrary<JsonObject> {
  const ofEachKind = [...LEFT_BY_KIND.values()]
    .map((paths) => paths.filter((path) => fits(operator, path) && (!inSql || hasColumn(path))))
    .filter((paths) => paths.length > 0);
  return fc.oneof(...ofEachKind.map((paths) => fc.constantFrom(...paths))).chain((path) =>
    fc.record({
      field: fc.constant(path.path),
      operator: fc.constant(operator.name),
      value: valueFor(operator, path),
      ifExists: fc.boolean(),
    }),
  );
}

/** Tells whether SQL has a column or a JSON value for the path. */
function hasColumn({ path, kind }: LawPath): boolean {
  return kind === undefined ? path.startsWith('resource.') : kind !== 'list of decimal' && kind !== 'list of boolean';
}

function fits({ kinds }: Operator, { kind }: LawPath): boolean {
  return kind === undefined || kinds.some((known) => known === kind || (known === 'list' && kind.startsWith('list of ')));
}

function valueFor({ operand }: Operator, path: LawPath): fc.Arbitrary<Json> {
  const one = valuesFor(path);
  const reference = referenceTo(path);
  switch (operand) {
    case 'scalar':
    case 'time':
      return fc.oneof({ weight: 3, arbitrary: one }, { weight: 2, arbitrary: reference });
    case 'scalars':
      return fc.oneof(
        { weight: 3, arbitrary: fc.array(fc.oneof({ weight: 3, arbitrary: one }, reference), { maxLength: 4 }) },
        { weight: 1, arbitrary: fc.constantFrom<Json>(...LISTS) },
        { weight: 1, arbitrary: reference },
      );
    case 'range':
      return fc.tuple(fc.oneof(one, reference), fc.oneof(one, reference));
    case 'text':
      return fc.oneof({ weight: 3, arbitrary: one }, { weight: 2, arbitrary: part }, { weight: 1, arbitrary: reference });
    default:
      return OTHERS[operand] ?? fc.boolean();
  }
}

const OTHERS: Readonly<Partial<Record<Operator['operand'], fc.Arbitrary<Json>>>> = {
  // Patterns that RE2 and JavaScript interpret in the same way.
  pattern: fc.constantFrom<Json>('^a', 'b$', '[0-9]', '.', '^$', 'ß|é', '${user.department}'),
  boolean: fc.boolean(),
  duration: fc.constantFrom<Json>('0s', '1h', 'PT1S', 'P1D', '9999w'),
  timesOfDay: fc.constantFrom<Json>(['00:00', '12:00'], ['17:45', '17:46'], ['22:00', '06:00'], ['05:45', '05:45:01']),
  daysOfWeek: fc.constantFrom<Json>([6], [1, 2, 3, 4, 5], [7, 6], [], ['${environment.dayOfWeek}', 1]),
  networks: fc.constantFrom<Json>('10.0.0.0/8', ['2001:db8::/32', '10.1.2.3'], '::ffff:0:0/96', '10.1.2.3/31', [], ['${request.ip}']),
};
const part = fc.constantFrom<Json>('a', '%', '_', '\\', '', 'ss', 'S', '😀', 'a?', '*b', 'x${user.department}', '${user.level}${user.id}');

/** Generates values of the path, values of the same kind, and sometimes any value. */
function valuesFor({ kind, values }: LawPath): fc.Arbitrary<Json> {
  const items: readonly Json[] = kind?.startsWith('list of ') ? values.flat() : values;
  const alike = EVERYWHERE.filter((other) => other.kind === kind).flatMap((other) => other.values);
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Json>(...items) },
    { weight: 2, arbitrary: fc.constantFrom<Json>(...alike) },
    fc.constantFrom<Json>(...OPERANDS),
  );
}

/** Generates a reference, mostly to a path of the same kind. */
function referenceTo({ kind }: LawPath): fc.Arbitrary<Json> {
  const alike = EVERYWHERE.filter((other) => other.kind === kind || other.kind === `list of ${kind}` || kind === `list of ${other.kind}`);
  const any = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...(alike.length > 0 ? alike : EVERYWHERE)) },
    fc.constantFrom(...EVERYWHERE),
  );
  return any.map(({ path }) => `\${${path}}`);
}
