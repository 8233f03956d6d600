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
      range: Type.Optional(
        Type.Object(
          { start: Type.Integer(), end: Type.Integer() },
          {
            description:
              'The part of a CEL expression that the mistake is about: the indices of its first UTF-16 code unit and of the one behind it.',
          },
        ),
      ),
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
