import { loadContestant } from './install.ts';
import type { Contestant, Shape, ShapeRequest, ShapeRule } from './shape.ts';

/** What is used of it. Said here, because it is installed only where it is measured. */
interface Cedar {
  preparsePolicySet(name: string, policies: { readonly staticPolicies: string }): { readonly type: 'success' | 'failure' };
  statefulIsAuthorized(call: object): { readonly type: string; readonly response?: { readonly decision: 'allow' | 'deny' } };
}

/** More take it minutes to parse. */
const MOST_RULES = 20_000;

/** Cedar in WebAssembly, its policies parsed beforehand. What it is asked about comes with each question: it keeps no entities. */
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
