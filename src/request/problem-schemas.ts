import { ISSUES, PROBLEMS } from '../errors.ts';
import { component, OneOf, Type } from '../schemas/index.ts';

/** Schema of one mistake in a request. */
export const ISSUE = component(
  'api.Issue',
  Type.Object(
    {
      path: Type.String({
        description: 'Dotted path of the member in the request, or the name of a header.',
        examples: ['rules.0.conditions.1.operator'],
      }),
      row: Type.Optional(Type.Integer({ description: 'Line number, if a file was sent.' })),
      code: OneOf([...Object.keys(ISSUES), ...Object.keys(PROBLEMS)], {
        description: 'Stable code for programs. For a request of a batch, the code of its problem.',
      }),
      detail: Type.String(),
    },
    { description: 'A mistake in a request.' },
  ),
);

/** Schema of an error (RFC 9457). */
export const PROBLEM = component(
  'api.Problem',
  Type.Object(
    {
      success: Type.Unsafe<false>({ const: false }),
      type: Type.String({ format: 'uri-reference' }),
      title: Type.String({ description: 'The same for every problem of this code.' }),
      status: Type.Integer(),
      code: OneOf(Object.keys(PROBLEMS), { description: 'Stable code for programs.' }),
      detail: Type.String({ description: 'What went wrong. For a denial, the reason of the decision.' }),
      hint: Type.Optional(Type.String({ description: 'What to do about it.' })),
      errors: Type.Optional(Type.Array(ISSUE, { description: 'All mistakes, if the request can have several.' })),
      currentVersion: Type.Optional(
        Type.Integer({ description: 'The version of the policy or assignment, if If-Match names another one (412).' }),
      ),
      requestId: Type.String(),
      decisionId: Type.Optional(Type.String({ description: 'Id of the audit entry of the decision.' })),
    },
    { description: 'An error (RFC 9457).' },
  ),
);
