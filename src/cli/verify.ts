import type { VerifiedData } from '../project/index.ts';
import type { CliCommand, CliContext } from './cli-context.ts';
import { printAuditLog } from './decisions-verify.ts';

/** Verifies all data at rest, or accepts damaged rows as they are. */
export const verify: CliCommand = {
  name: 'verify',
  summary: 'verify the integrity of all data',
  details:
    'Runs the checks of the database, compares policies, assignments, their versions and users with their checksums, and verifies the audit log. The exit code is 1 if anything is damaged. The service may be running.',
  settings: 'auditLog',
  flags: {
    '--reseal': 'accept the damaged rows as they are, after you have checked or changed them with SQL; appends an audit entry',
    '--public-key <file>': 'public keys that verify checkpoints (default: the file in the data folder)',
    '--json': 'print the result as JSON',
  },
  async run(context, config, flags) {
    if (flags.has('reseal')) return reseal(context, await context.resealData(config));
    const publicKey = flags.get('publicKey');
    const verified = await context.verifyData(config, { publicKey: typeof publicKey === 'string' ? publicKey : undefined });
    if (flags.has('json')) context.print(JSON.stringify(verified, undefined, 2));
    else print(context, verified);
    return verified.isWhole ? 0 : 1;
  },
};

function reseal({ print }: CliContext, rows: readonly string[]): number {
  for (const row of rows) print(`accepted: ${row}`);
  print(rows.length === 0 ? 'no row is damaged; no checksum was changed' : `${rows.length} rows have new checksums`);
  return 0;
}

function print(context: CliContext, { isWhole, database, rows, decisions }: VerifiedData): void {
  for (const damage of database.damage) context.print(`database: ${damage}`);
  if (database.damage.length === 0) context.print(database.summary);
  for (const row of rows?.damaged ?? []) context.print(row);
  const more = (rows?.damagedCount ?? 0) - (rows?.damaged.length ?? 0);
  if (more > 0) context.print(`and ${more} more`);
  context.print(
    rows === undefined
      ? 'the rows have no checksums yet; the next start of the service writes them'
      : `${rows.rows} policies, assignments, versions and users compared with their checksums, ${rows.damagedCount} damaged`,
  );
  printAuditLog(context, decisions);
  context.print(isWhole ? 'all data are intact' : 'the data are not intact');
}
