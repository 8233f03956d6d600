import type { VerifiedDecisions } from '../project/index.ts';
import type { CliCommand, CliContext } from './cli-context.ts';

/** Verifies the audit log and lists every break. */
export const decisionsVerify: CliCommand = {
  name: 'decisions verify',
  summary: 'verify the integrity of the audit log',
  details: 'Lists every entry that was changed, added or removed; the exit code is then 1. The service may be running.',
  settings: 'auditLog',
  flags: {
    '--public-key <file>': 'public keys that verify checkpoints (default: the file in the data folder)',
    '--json': 'print the result as JSON',
  },
  async run(context, config, flags) {
    const publicKey = flags.get('publicKey');
    const verified = await context.verifyDecisions(config, { publicKey: typeof publicKey === 'string' ? publicKey : undefined });
    const isWhole = verified.breakCount === 0;
    if (flags.has('json')) context.print(JSON.stringify({ whole: isWhole, ...verified }, undefined, 2));
    else printAuditLog(context, verified);
    return isWhole ? 0 : 1;
  },
};

/** Prints the result of a verification of the audit log. */
export function printAuditLog(
  context: CliContext,
  { entries, chains, notChained, breaks, breakCount, checkpoints, pruned, policies }: VerifiedDecisions,
): void {
  for (const { kind, writer, detail } of breaks) context.print(`${kind}: ${detail}${writer === undefined ? '' : `; chain ${writer}`}`);
  if (breakCount > breaks.length) context.print(`and ${breakCount - breaks.length} more`);
  for (const at of checkpoints?.restored ?? []) context.print(`a backup was restored at ${at}; newer entries were lost`);
  for (const { at, reason, by } of pruned) context.print(`at ${at}: ${reason}, by ${by}`);
  if (notChained > 0) context.print(`${notChained} entries have no hash, because an earlier version wrote them; they cannot be verified`);
  for (const line of describePolicies(policies)) context.print(line);
  context.print(`${entries} entries in ${chains} chain${chains === 1 ? '' : 's'}, ${describeCheckpoints(checkpoints)}`);
  context.print(breakCount === 0 ? 'the audit log is intact' : `the audit log is not intact: ${breakCount} breaks`);
}

function describeCheckpoints(checkpoints: VerifiedDecisions['checkpoints']): string {
  if (checkpoints === undefined) return 'no checkpoints: a chain that was rewritten from some entry to its end cannot be detected';
  return `${checkpoints.lines} checkpoints${checkpoints.until === undefined ? '' : `, the last of ${checkpoints.until}`}`;
}

function* describePolicies({ versions, unproven, provenUntil, until }: VerifiedDecisions['policies']): Generator<string> {
  if (unproven > 0) {
    yield `${unproven} versions of policies and assignments have no hash, because an earlier version wrote them; they cannot be verified`;
  }
  if (until === undefined) return;
  const proof =
    provenUntil === undefined
      ? 'not verified: no remaining audit entry contains their hash'
      : `verified by the audit log up to revision ${provenUntil}${provenUntil < until ? ` of ${until}` : ''}`;
  yield `${versions} versions of policies and assignments, ${proof}`;
}
