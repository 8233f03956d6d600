import { loadContestant } from './install.ts';
import type { Contestant, Shape, ShapeRequest, ShapeRule } from './shape.ts';

/** The part of its API that is used. Its own types are installed only with it. */
interface Cedar {
  preparsePolicySet(name: string, policies: { readonly staticPolicies: string }): { readonly type: 'success' | 'failure' };
  statefulIsAuthorized(call: object): { readonly type: string; readonly response?: { readonly decision: 'allow' | 'deny' } };
}

/** Maximum number of rules; Cedar needs minutes to parse more. */
const MOST_RULES = 20_000;

/** Cedar in WebAssembly with parsed policies. It stores no entities, so each request contains them. */
export const cedar: Contestant = {
  name: 'cedar-wasm',
  async prepare(shape) {
    if (shape.rules.length > MOST_RULES) return undefined;
    const { preparsePolicySet, statefulIsAuthorized } = loadContestant<Cedar>('@cedar-policy/cedar-wasm/nodejs');
    const { type } = preparsePolicySet(shape.name, { staticPolicies: shape.rules.map(toPolicy).join('\n') });
    if (type !== 'success') throw new Error(`expected Cedar to read the policies of ${shape.name}`);
    const calls = shape.requests.map((request) => toCall(shape, request));
    let next = 0;
    return () => statefulIsAuthorized(calls[next++ % calls.length] as object).response?.decision === 'allow';
  },
};

function toPolicy({ role, resource, action, when }: ShapeRule): string {
  const expected = typeof when?.equals === 'string' ? `"${when.equals}"` : 'principal.id';
  const condition = when === undefined ? '' : ` when { resource.${when.field} == ${expected} }`;
  return `permit (principal in Role::"${role}", action == Action::"${action}", resource is ${resource})${condition};`;
}

function toCall({ name }: Shape, { userId, role, resource, action, record }: ShapeRequest): object {
  const principal = { type: 'User', id: userId };
  const about = { type: resource, id: String(record['id']) };
  return {
    principal,
    action: { type: 'Action', id: action },
    resource: about,
    context: {},
    preparsedPolicySetId: name,
    entities: [
      { uid: principal, attrs: { id: userId }, parents: [{ type: 'Role', id: role }] },
      { uid: about, attrs: record, parents: [] },
    ],
  };
}
