import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from './config/index.ts';
import { SetupError } from './errors.ts';
import { checkProject, lintPolicies, testPolicies } from './policy-file-commands.ts';

/** Returns the error of an operation on a project with these files. */
async function errorOf(files: Readonly<Record<string, string>>, operation: (config: ReturnType<typeof parseConfig>) => Promise<unknown>) {
  const project = mkdtempSync(join(tmpdir(), 'bailiwick-commands-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), text);
    }
    return await operation(parseConfig({ flags: { project } })).then(
      () => undefined,
      (error: unknown) => error,
    );
  } finally {
    rmSync(project, { recursive: true });
  }
}

const BOOK = 'name: Book\nfields:\n  title: { type: string }\n';
const MEMBER = 'name: User\nfields:\n  cardNumber: { type: string, uniqe: true }\n';
const LOAN = 'name: Loan\nfields:\n  bookId: { type: reference, to: Bok }\n  due: { type: dat }\n';
const POLICY = `name: Loans
type: ATTRIBUTE_BASED
rules:
  - resource: Loan
    action: read
    conditions:
      - { field: resource.due, operator: lt, value: 7 }
      - { field: resource.bookId.titel, operator: eq, value: x }
      - { field: user.cardNumber, operator: exists, value: true }
      - { related: { resource: Loan, as: l, on: { bookId: resource.id } } }
  - { resource: Book, action: read, conditions: [{ field: resource.titel, operator: eq, value: x }] }
`;
const TEST = `users: { mia: { cardNumber: 7 } }
records:
  Loan: { old: { due: 2027-01-01 } }
  Bok: { dune: {} }
assignments: { mia: [Loans, Lons] }
tests:
  - { name: loans, resource: Loan, allow: { mia: { read: all } } }
  - { name: books, resource: Book, action: read, record: dun, expect: { mia: ALLOW } }
`;

describe('mistakes in the files of a project', () => {
  const files = {
    'resources/Book.yaml': BOOK,
    'resources/User.yaml': MEMBER,
    'resources/Loan.yaml': LOAN,
    'policies/loans.yaml': POLICY,
    'policies/loans.test.yaml': TEST,
  };
  const inPolicies = [expect.stringMatching(/^policies\/loans\.yaml:11:\d+ rules\.1\.conditions\.0\.field: .*did you mean "title"/)];
  const inDefinitions = [
    expect.stringMatching(/^resources\/Loan\.yaml:3:\d+ fields\.bookId\.to: unknown resource "Bok"/),
    expect.stringMatching(/^resources\/Loan\.yaml:4:\d+ fields\.due\.type: /),
    expect.stringMatching(/^resources\/User\.yaml:3:\d+ fields\.cardNumber\.uniqe: /),
  ];

  it.each([
    ['check', checkProject],
    ['policies test', testPolicies],
  ])('%s reports those of definitions, policies and tests at once, and none that only follows from another', async (_, operation) => {
    const error = await errorOf(files, operation);
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toMatchObject({ message: '7 mistakes in the definitions, the policies and the policy tests' });
    expect((error as SetupError).mistakes).toEqual([
      ...inDefinitions,
      ...inPolicies,
      expect.stringMatching(/^policies\/loans\.test\.yaml:4:\d+ records\.Bok: .*did you mean "Book"/),
      expect.stringMatching(/^policies\/loans\.test\.yaml:5:\d+ assignments\.mia\.1: .*did you mean "Loans"/),
      expect.stringMatching(/^policies\/loans\.test\.yaml:8:\d+ tests\.1\.record: no Book is named "dun"/),
    ]);
  });

  it('policies lint reports those of definitions and policies', async () => {
    const error = await errorOf(files, lintPolicies);
    expect((error as SetupError).mistakes).toEqual([...inDefinitions, ...inPolicies]);
  });

  it('does not report policies as unknown if a policy file cannot be read', async () => {
    const error = await errorOf(
      {
        'resources/Book.yaml': BOOK,
        'policies/a.yaml': 'name: [',
        'policies/a.test.yaml': 'users: { mia: {} }\nassignments: { mia: [Loans] }\ntests: []\n',
      },
      checkProject,
    );
    expect((error as SetupError).mistakes).toEqual([expect.stringMatching(/^policies\/a\.yaml:/)]);
  });
});
