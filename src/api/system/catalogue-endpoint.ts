/** `GET /admin/api/catalogue`: the vocabulary of policies and filters, from which a program builds forms without names of its own. */
import { RULE_ACTIONS } from '../../actions.ts';
import { describeDomain, ENVIRONMENT_KINDS, IDENTITY_NAMES, REQUEST_KINDS } from '../../authz/context/index.ts';
import { AUDIT_LOG_NAME, EFFECTS, POLICY_TYPES, type PolicyLimits } from '../../authz/policies/index.ts';
import { CEL_FUNCTIONS, CEL_MACROS, CEL_OPERATORS, type CelSyntax, type ContextGroup } from '../../conditions/index.ts';
import type { Kind } from '../../operators/index.ts';
import { envelope, matchesIfNoneMatch, NO_CONTENT, respond, toSuccess } from '../../request/index.ts';
import {
  ASSIGNABLE_ROLES,
  type Definitions,
  describeResource,
  fieldKind,
  ordinaryResources,
  type Resource,
} from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { component, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from '../admin/index.ts';
import { RESOURCE_DESCRIPTION, resourceDescriptionExample } from '../records/index.ts';
import { COUNT, TEXT } from '../schema-members.ts';
import { describeTables, exampleTables, KIND, TABLES, toContentETag } from './catalogue-tables.ts';

const PATH = Type.Object({
  path: Type.String({ examples: ['environment.hour'] }),
  kind: Type.Optional(KIND),
  itemKind: Type.Optional({ ...KIND, description: 'The kind of the items of a list.' }),
  to: Type.Optional(Type.String({ description: 'The resource that the value refers to. A path can continue with its fields.' })),
  values: Type.Optional(Type.Array(Type.Unsafe<string | number>({ type: ['string', 'number'] }))),
});

const SYNTAX = Type.Object({ name: TEXT, form: TEXT, summary: TEXT });

const LIMITS = Type.Object({
  rules: { ...COUNT, description: 'Rules of a policy.' },
  depth: { ...COUNT, description: 'Nested groups of conditions.' },
  references: { ...COUNT, description: 'References that a path of a condition follows.' },
  relatedRecords: {
    ...COUNT,
    description:
      'Related records that a condition counts, and items of a list of references that a path follows; with more, it is unknown.',
  },
  comparisons: { ...COUNT, description: 'Conditions of a rule, including nested ones.' },
  listItems: { ...COUNT, description: 'Items of one list operand.' },
  textLength: { ...COUNT, description: 'Characters of one text operand.' },
  expressionLength: { ...COUNT, description: 'Characters of one expression.' },
  expressionDepth: { ...COUNT, description: 'Levels of the syntax tree of one expression.' },
  importPolicies: { ...COUNT, description: 'Policies in an import.' },
});

const CATALOGUE = component(
  'admin.Catalogue',
  Type.Object({
    definitions: Type.Array(RESOURCE_DESCRIPTION, { description: 'The resources of the project, and `User`.' }),
    auditLog: RESOURCE_DESCRIPTION,
    ...TABLES,
    ruleActions: Type.Array(OneOf(RULE_ACTIONS), { description: 'The actions that rules can name.' }),
    roles: Type.Array(TEXT, { description: 'The roles that policies can be assigned to.' }),
    userRoles: Type.Array(TEXT, { description: 'The roles that users can have.' }),
    policyTypes: Type.Array(OneOf(POLICY_TYPES)),
    effects: Type.Array(OneOf(EFFECTS)),
    contexts: Type.Object(
      { user: Type.Array(PATH), environment: Type.Array(PATH), request: Type.Array(PATH) },
      { description: 'The paths that conditions on every resource can read. `resource.…` has the fields of the resource.' },
    ),
    expressions: Type.Object({ operators: Type.Array(SYNTAX), macros: Type.Array(SYNTAX), functions: Type.Array(SYNTAX) }),
    limits: LIMITS,
  }),
);
type Catalogue = TypeOf<typeof CATALOGUE>;

/** The endpoint of the catalogue. */
export const catalogueEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'GET',
    path: '/catalogue',
    id: 'catalogue.read',
    tag: 'Admin policies',
    summary: 'Returns the definitions, operators, actions, roles, paths and limits that policies and filters can use.',
    description: 'The catalogue changes with the definitions. If the header `If-None-Match` has its ETag, the response is 304.',
    ifNoneMatch: true,
    answers: {
      200: {
        description: 'The catalogue.',
        schema: envelope(CATALOGUE),
        headers: ['ETag'],
        example: toSuccess({
          ...exampleCatalogue(),
          definitions: [resourceDescriptionExample('Article', 'What the newsroom publishes.')],
          auditLog: resourceDescriptionExample(AUDIT_LOG_NAME, 'The audit log.'),
        }),
      },
      304: { description: 'The catalogue has not changed.', schema: NO_CONTENT, headers: ['ETag'] },
    },
    // The definitions are files of the project, and the response shows neither policies nor values.
    isAudited: false,
    async handle({ headers, snapshot: { definitions }, deps }: AdminRequest) {
      const catalogue = createCatalogue(definitions, deps);
      const etag = toContentETag(catalogue);
      if (matchesIfNoneMatch(headers.ifNoneMatch, etag)) return respond(304, undefined, { etag });
      return respond(200, toSuccess(catalogue), { etag });
    },
  }),
];

interface CatalogueLimits {
  readonly limits: PolicyLimits;
  readonly importPolicies: number;
}

function createCatalogue(definitions: Definitions, { limits, importPolicies }: CatalogueLimits): Catalogue {
  return {
    definitions: ordinaryResources(definitions).map(toDescription),
    // Rules name it, although it has no record endpoints.
    auditLog: toDescription(definitions.get(AUDIT_LOG_NAME) as Resource),
    ...describeTables(),
    ruleActions: [...RULE_ACTIONS],
    roles: [...ASSIGNABLE_ROLES],
    userRoles: [...(definitions.get('User')?.fields.get('role')?.values ?? [])],
    policyTypes: [...POLICY_TYPES],
    effects: [...EFFECTS],
    contexts: {
      user: userPaths(definitions),
      environment: pathsOf(definitions, 'environment', ENVIRONMENT_KINDS),
      request: [...pathsOf(definitions, 'request', REQUEST_KINDS), { path: 'request.data' }],
    },
    expressions: { operators: syntaxOf(CEL_OPERATORS), macros: syntaxOf(CEL_MACROS), functions: syntaxOf(CEL_FUNCTIONS) },
    limits: { rules: limits.rules, ...limits.conditions, importPolicies },
  };
}

function toDescription(resource: Resource): Catalogue['auditLog'] {
  return describeResource(resource) as unknown as Catalogue['auditLog'];
}

type ContextPath = Catalogue['contexts']['user'][number];

/** Returns the paths of the fields of User that are not secret, and of the identity. */
function userPaths(definitions: Definitions): ContextPath[] {
  const fields = [...(definitions.get('User')?.fields.values() ?? [])].filter(({ writeOnly }) => !writeOnly);
  const known = new Set(fields.map(({ name }) => name));
  const others = IDENTITY_NAMES.filter((name) => !known.has(name)).map((name) => [name, 'text'] as const);
  return [
    ...fields.map((field) => {
      const { kind, itemKind } = fieldKind(field) ?? {};
      const { to } = field.of ?? field;
      return {
        path: `user.${field.name}`,
        ...(kind !== undefined && { kind }),
        ...(itemKind !== undefined && { itemKind }),
        ...(to !== undefined && { to }),
        ...valuesOf(definitions, 'user', field.name),
      };
    }),
    ...pathsOf(definitions, 'user', new Map(others)),
  ];
}

function pathsOf(definitions: Definitions, group: ContextGroup, kinds: ReadonlyMap<string, Kind>): ContextPath[] {
  return [...kinds].map(([name, kind]) => ({ path: `${group}.${name}`, kind, ...valuesOf(definitions, group, name) }));
}

/** Returns the possible values of a path, if they are known. */
function valuesOf(definitions: Definitions, group: ContextGroup, name: string): Pick<ContextPath, 'values'> {
  const domain = describeDomain(definitions, '*', { action: '*' })({ group, keys: [name], text: `${group}.${name}` });
  return domain?.values === undefined ? {} : { values: [...domain.values] };
}

function syntaxOf(table: ReadonlyMap<string, CelSyntax>): TypeOf<typeof SYNTAX>[] {
  return [...table].map(([name, { form, summary }]) => ({ name, form, summary }));
}

/** Returns a short catalogue for the document: one item of each list. */
function exampleCatalogue(): Catalogue {
  const conditions = {
    depth: 8,
    references: 4,
    relatedRecords: 1000,
    comparisons: 200,
    listItems: 1000,
    textLength: 2000,
    expressionLength: 2000,
    expressionDepth: 20,
  };
  const whole = createCatalogue(SYSTEM, { limits: { rules: 1000, conditions }, importPolicies: 10_000 });
  const { contexts, expressions } = whole;
  return {
    ...whole,
    ...exampleTables(),
    userRoles: ['user', 'admin'],
    contexts: { user: contexts.user.slice(0, 1), environment: contexts.environment.slice(2, 3), request: contexts.request.slice(0, 1) },
    expressions: {
      operators: expressions.operators.slice(0, 1),
      macros: expressions.macros.slice(0, 1),
      functions: expressions.functions.slice(0, 1),
    },
  };
}
