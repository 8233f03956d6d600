import { expect, it } from 'vitest';
import { reasonsOf } from './permission-reasons.ts';

it('each reason is named once, with its actions', () => {
  const reason = 'no rule matched';
  const permissions = [
    { action: 'read', effect: 'deny', reason },
    { action: 'update', effect: 'conditional', reason: 'allowed if the department is yours' },
    { action: 'export', effect: 'allow', reason: 'allowed' },
    { action: 'delete', effect: 'deny', reason },
  ] as const;
  expect(reasonsOf(permissions)).toEqual([
    { reason, actions: ['read', 'delete'] },
    { reason: 'allowed if the department is yours', actions: ['update'] },
  ]);
});
