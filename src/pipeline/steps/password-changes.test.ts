import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PasswordProof } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestUser } from '../pipeline.fixture.ts';
import { type ComputedPasswords, createPasswordHashes, HashNeeded, issuesOfPassword, validateOwnPassword } from './password-changes.ts';

const ANN = { userId: 'ann', plain: 'old' };
const PROOF: PasswordProof = { hash: 'hash of old' };

const neededAfter = (
  computed: ComputedPasswords,
  use: (hashes: ReturnType<typeof createPasswordHashes>) => void,
): HashNeeded | undefined => {
  const hashes = createPasswordHashes(computed);
  use(hashes);
  try {
    hashes.assertComplete();
    return undefined;
  } catch (error) {
    if (error instanceof HashNeeded) return error;
    throw error;
  }
};

describe('the password hashes of a unit of work', () => {
  it('a hash that is missing has a placeholder, and is needed for each use at the end of the run', () => {
    const needed = neededAfter({ hashes: new Map() }, (hashes) => {
      expect([hashes.of('new'), hashes.of('new'), hashes.of('other')]).toEqual(['', '', '']);
    });
    expect(needed).toMatchObject({ plain: ['new', 'new', 'other'], claim: undefined });
  });

  it('refuses more than 300 passwords that have no hash yet', () => {
    const hashes = createPasswordHashes({ hashes: new Map([['known', ['hash']]]) });
    for (let count = 0; count < 300; count++) hashes.of('new');
    expect(hashes.of('known')).toBe('hash');
    expect(() => hashes.of('new')).toThrow(expect.objectContaining({ code: 'REQUEST_BUDGET' }));
  });

  it('a hash that an earlier run has computed is returned, and nothing is needed', () => {
    const needed = neededAfter({ hashes: new Map([['new', ['hash', 'hash 2']]]) }, (hashes) => {
      expect([hashes.of('new'), hashes.of('new')]).toEqual(['hash', 'hash 2']);
    });
    expect(needed).toBeUndefined();
  });

  it('a run that uses a password more often than an earlier run needs only the further hash', () => {
    const needed = neededAfter({ hashes: new Map([['new', ['hash']]]) }, (hashes) => {
      expect([hashes.of('new'), hashes.of('new')]).toEqual(['hash', '']);
    });
    expect(needed).toMatchObject({ plain: ['new'] });
  });

  it('only the first of several claims without a proof is needed', () => {
    const needed = neededAfter({ hashes: new Map() }, (hashes) => {
      expect([hashes.proofOf(ANN), hashes.proofOf({ ...ANN, plain: 'guess' })]).toEqual([undefined, undefined]);
    });
    expect(needed).toMatchObject({ plain: [], claim: ANN });
  });

  it('a verified claim has its proof, and nothing is needed', () => {
    const needed = neededAfter({ hashes: new Map(), verified: { claim: ANN, proof: PROOF } }, (hashes) => {
      expect(hashes.proofOf({ ...ANN })).toBe(PROOF);
    });
    expect(needed).toBeUndefined();
  });

  it.each([
    ['password', { ...ANN, plain: 'guess' }],
    ['user', { ...ANN, userId: 'ben' }],
  ])('a second claim with another %s is refused without a verification', (_, claim) => {
    const needed = neededAfter({ hashes: new Map(), verified: { claim: ANN, proof: PROOF } }, (hashes) => {
      expect(hashes.proofOf(claim)).toMatchObject({ refused: { code: 'IDENTITY_CURRENT_PASSWORD' } });
    });
    expect(needed).toBeUndefined();
  });
});

describe('a password change', () => {
  let test: TestPipeline;
  beforeAll(async () => {
    test = await openPipeline({ definitions: { Article: { fields: { title: { type: 'string' } } } } });
    await test.store({ User: { eve: { email: 'eve@example.com', role: 'user', isActive: true, password: PROOF.hash } } });
  });
  afterAll(() => test.dispose());

  interface Change {
    readonly as?: TestUser;
    readonly resource?: string;
    readonly of?: string;
    readonly changed?: readonly string[];
    readonly currentPassword?: Json;
  }

  it.each<[string, Change, readonly string[]]>([
    ['of the caller needs the current password', {}, ['currentPassword:required']],
    ['of the caller needs a text', { currentPassword: 5 }, ['currentPassword:type']],
    ['of the caller needs a text that is not empty', { currentPassword: '' }, ['currentPassword:type']],
    ['of the caller needs a text of at most 200 characters', { currentPassword: 'x'.repeat(201) }, ['currentPassword:type']],
    ['of the caller accepts a text of 200 characters', { currentPassword: 'x'.repeat(200) }, []],
    ['of the caller accepts 200 characters of two UTF-16 units', { currentPassword: '😀'.repeat(200) }, []],
    ['of the caller refuses 201 characters of two UTF-16 units', { currentPassword: '😀'.repeat(201) }, ['currentPassword:type']],
    ['of an admin needs the current password too', { as: 'ada', of: 'ada' }, ['currentPassword:required']],
    ['of another user is refused', { of: 'ben' }, ['password:guarded']],
    [
      'of another user is refused, also with a current password',
      { of: 'ben', currentPassword: 'old' },
      ['password:guarded', 'currentPassword:unknown'],
    ],
    ['of another user is accepted from an admin', { as: 'ada', of: 'ben' }, []],
    [
      'of another user by an admin takes no current password',
      { as: 'ada', of: 'ben', currentPassword: 'old' },
      ['currentPassword:unknown'],
    ],
    ['is absent, so the current password is refused', { changed: ['name'], currentPassword: 'old' }, ['currentPassword:unknown']],
    ['is absent, so nothing is needed', { changed: ['name'] }, []],
    ['of another resource has no rules', { resource: 'Article' }, []],
  ])(
    'the password change %s',
    async (_, { as = 'ann', resource = 'User', of = 'ann', changed = ['password'], currentPassword }, expected) => {
      await test.inContext({ as, request: { action: 'update', resource } }, async (context) => {
        const issues = issuesOfPassword({ ...context, currentPassword }, { id: of, version: 1 }, changed);
        expect(issues.map(({ path, code }) => `${path}:${code}`)).toEqual(expected);
      });
    },
  );

  interface OwnChange {
    readonly resource?: string;
    readonly id?: string;
    readonly cleared?: readonly string[];
    readonly values?: Readonly<Record<string, Json>>;
    readonly proof?: PasswordProof;
  }

  const wrong: PasswordProof = { refused: new Problem('IDENTITY_THROTTLED', 'wait') };
  it.each<[string, OwnChange, string | undefined]>([
    ['is accepted with the proof of the stored password', { proof: PROOF }, undefined],
    ['is refused with the proof of a password that has changed since', { proof: { hash: 'older hash' } }, 'IDENTITY_CURRENT_PASSWORD'],
    ['is refused with the problem of the verification', { proof: wrong }, 'IDENTITY_THROTTLED'],
    ['is verified if the password is removed', { values: {}, cleared: ['password'], proof: wrong }, 'IDENTITY_THROTTLED'],
    ['is accepted without a proof yet, because the run is repeated', {}, undefined],
    ['is not verified if the password does not change', { values: { name: 'Eve' }, proof: wrong }, undefined],
    ['is not verified for the password of another user', { id: 'ben', proof: wrong }, undefined],
    ['is not verified for another resource', { resource: 'Article', proof: wrong }, undefined],
  ])(
    'the change of the own password %s',
    async (_, { resource = 'User', id = 'eve', values = { password: 'new' }, cleared = [], proof }, code) => {
      await test.inContext({ as: 'ann', request: { action: 'update', resource } }, async (given) => {
        const verified = proof && { claim: { userId: 'eve', plain: 'old' }, proof };
        const hashes = createPasswordHashes({ hashes: new Map(), verified });
        const context = { ...given, principal: { ...given.principal, id: 'eve' }, currentPassword: 'old', hashes };
        const work = validateOwnPassword(context, { record: { id, version: 2 }, values, cleared, issues: [] });
        if (code === undefined) await work;
        else expect(await codeOf(work)).toBe(code);
      });
    },
  );
});
