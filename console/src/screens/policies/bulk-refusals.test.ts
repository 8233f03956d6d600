import { describe, expect, it } from 'vitest';
import { RequestError } from '../../api/problem.ts';
import { managedRefusal, toError } from './bulk-refusals.ts';

describe('managedRefusal', () => {
  const policy = (name: string, file?: string, isActive = true) => ({ name, isActive, ...(file && { file, managedBy: 'files' as const }) });

  it('names the policies that only their files change, with the files', () => {
    expect(managedRefusal([policy('Own'), policy('Desk', 'desk.yaml')], false)).toContain('Desk (desk.yaml)');
    expect(managedRefusal([policy('Own'), policy('Desk', 'desk.yaml')], true)).toBeUndefined();
    expect(managedRefusal([policy('Own')], false)).toBeUndefined();
    const many = ['a', 'b', 'c', 'd', 'e'].map((name) => policy(name, `${name}.yaml`));
    expect(managedRefusal(many, false)).toMatch(/c \(c\.yaml\).* and .*2.* more/);
  });
});

describe('toError', () => {
  it('keeps the code and the request of the first refusal', () => {
    const refused = new RequestError({ title: 'Conflict', status: 412, code: 'RECORD_VERSION', detail: 'it has changed', requestId: 'r1' });
    const error = toError(2, [
      { name: 'Desk', error: refused },
      { name: 'Other', error: new Error('lost') },
    ]);
    expect(error).toBeInstanceOf(RequestError);
    expect((error as RequestError).problem).toMatchObject({ code: 'RECORD_VERSION', requestId: 'r1' });
    expect(error.message).toMatch(/2.* changed, .*2.* refused.*Desk.*it has changed/);
  });

  it('has the message of an error that is no refused request', () => {
    expect(toError(0, [{ name: 'Desk', error: new Error('lost') }]).message).toContain('lost');
  });
});
