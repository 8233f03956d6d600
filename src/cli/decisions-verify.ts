import type { CliCommand, CliContext, CliVerification } from './cli-context.ts';

/** Looks the record over, and says what is not as it was written. */
export const decisionsVerify: CliCommand = {
  name: 'decisions verify',
  summary: 'verify the audit log: name every entry that was changed, added or removed; the service may be running',
  isOffline: true,
  switches: {
    '--public-key <file>': 'file with the public keys that checkpoints are signed with (default: the one in the data folder)',
    '--json': 'print the result as JSON',
  },
  async run(world, settings, switches) {
    const publicKey = switches.get('publicKey');
    const verified = await world.verifyDecisions(settings, { publicKey: typeof publicKey === 'string' ? publicKey : undefined });
    const isWhole = verified.breakCount === 0;
    if (switches.has('json')) world.print(JSON.stringify({ whole: isWhole, ...verified }, undefined, 2));
    else print(world, verified);
    return isWhole ? 0 : 1;
  },
};

function print(
  world: CliContext,
  { entries, chains, notChained, breaks, breakCount, checkpoints, pruned, policies }: CliVerification,
): void {
  for (const { kind, writer, detail } of breaks) world.print(`${kind}: ${detail}${writer === undefined ? '' : `; chain ${writer}`}`);
  if (breakCount > breaks.length) world.print(`and ${breakCount - breaks.length} more`);
  for (const at of checkpoints?.restored ?? []) world.print(`a backup was restored at ${at}: what was newer than it is gone`);
  for (const { at, reason, by } of pruned) world.print(`at ${at}: ${reason}, by ${by}`);
  if (notChained > 0) world.print(`${notChained} entries are from before there were chains: of them nothing can be said`);
  for (const line of describePolicies(policies)) world.print(line);
  world.print(`${entries} entries in ${chains} chains, ${describe(checkpoints)}`);
  world.print(breakCount === 0 ? 'the record is as it was written' : `the record is not as it was written: ${breakCount} breaks`);
}

function describe(checkpoints: CliVerification['checkpoints']): string {
  if (checkpoints === undefined) return 'without checkpoints: what was written anew with all that follows it does not show';
  return `${checkpoints.lines} checkpoints${checkpoints.until === undefined ? '' : `, the last of ${checkpoints.until}`}`;
}

function* describePolicies({ versions, unproven, provenUntil, until }: CliVerification['policies']): Generator<string> {
  if (unproven > 0) yield `${unproven} versions of policies and assignments are from before they were hashed: nothing proves them`;
  if (until === undefined) return;
  const proof =
    provenUntil === undefined
      ? 'no audit entry that is left holds their hash, so it proves nothing'
      : `proven by the audit log up to revision ${provenUntil}${provenUntil < until ? ` of ${until}` : ''}`;
  yield `${versions} versions of policies and assignments, ${proof}`;
}
