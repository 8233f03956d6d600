import { createPolicyLinter } from '../api/index.ts';
import { type Finding, type FindingCode, sortFindings } from '../authz/linter/index.ts';
import { listPolicies } from '../storage/index.ts';
import type { LoadedPolicies } from './load-policy-files.ts';
import { type PolicyProject, withPolicyDatabase } from './policy-database.ts';

/** A finding about a policy in a file. */
export interface FileFinding {
  readonly file: string;
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;
  readonly code: FindingCode;
  readonly level: Finding['level'];
  readonly detail: string;
  /** A sentence that tells how to resolve it. */
  readonly todo: string;
}

/** Findings that depend on users and their assignments, which files do not contain. */
const NEEDS_USERS: ReadonlySet<FindingCode> = new Set(['unassigned', 'attribute-never-set']);

/** Returns the findings about the policies of a project, with their places in the files. */
export function lintPolicyFiles(project: PolicyProject, { locate }: Pick<LoadedPolicies, 'locate'>): Promise<readonly FileFinding[]> {
  return withPolicyDatabase(project, {}, async ({ tx, snapshot }) => {
    const policies = await listPolicies(tx);
    const lint = await createPolicyLinter({ tx, snapshot, deps: { timeZone: project.timeZone } }, snapshot)(policies);
    const findings = sortFindings(policies.flatMap((policy) => lint(policy))).filter(({ code }) => !NEEDS_USERS.has(code));
    return findings.map(({ code, level, detail, todo, policy, path = '' }) => ({
      ...locate(policy.name, path),
      code,
      level,
      detail,
      todo,
    }));
  });
}

/** Prints a finding: `policies/articles.yaml:7:5 conflict: … (…)`. */
export function printFinding({ file, line, column, code, detail, todo }: FileFinding): string {
  return `${file}:${line}:${column} ${code}: ${detail} (${todo})`;
}
