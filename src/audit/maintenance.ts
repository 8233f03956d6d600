/** Background work of a running service on the audit log: writes checkpoints, records the numbers of repeated denials, and deletes old entries. */

import type { Database, Log } from '../storage/index.ts';
import { createWindowClosing, toClosingInterval, type WindowClosingDeps } from './index.ts';
import {
  type Checkpoints,
  createCheckpoints,
  loadCheckpointKey,
  loadPublicKeys,
  NO_CHECKPOINTS,
  publicKeyPath,
} from './integrity/index.ts';
import { createRetention, type Retention, type RetentionDeps } from './retention/index.ts';

/** The options of audit maintenance. */
export interface AuditMaintenanceOptions {
  /** The checkpoint file; undefined if no checkpoints are written. */
  readonly checkpoints: string | undefined;
  /** The data folder, which contains the checkpoint key. */
  readonly data: string;
  /** Days for which entries are kept; undefined if entries are deleted only by command. */
  readonly days: number | undefined;
  /** The length of a window of repeated denials; 0 if each denial has an entry. */
  readonly windowSeconds: number;
}

/** Dependencies of audit maintenance. */
export interface AuditMaintenanceDeps extends Pick<RetentionDeps, 'daysInAdvance'> {
  readonly database: Database;
  readonly log: Log | undefined;
  /** Records the numbers of refused tokens. */
  readonly identity: { readonly recordRepeatedRefusals: NonNullable<WindowClosingDeps['recordRefusals']> };
}

/** Checkpoints, numbers of repeated denials, and retention of a running service. */
export interface AuditMaintenance extends Retention {
  readonly checkpoints: Checkpoints;
}

/** Creates audit maintenance; `start` begins the background work. */
export function createAuditMaintenance(
  { checkpoints: path, data, days, windowSeconds }: AuditMaintenanceOptions,
  { database, log = () => undefined, daysInAdvance, identity }: AuditMaintenanceDeps,
): AuditMaintenance {
  const key = (): ReturnType<typeof loadCheckpointKey> => loadCheckpointKey(data);
  // A service without a checkpoint file may have pruned entries. Its public keys verify the signed cuts of the chains.
  const none = (): Checkpoints => ({ ...NO_CHECKPOINTS, keys: loadPublicKeys(publicKeyPath(data)) });
  const checkpoints = path === undefined ? none() : createCheckpoints({ database, path, key: key(), log });
  const retention = createRetention({ database, path, key, log, days, daysInAdvance });
  const interval = toClosingInterval(windowSeconds);
  const windowClosing = createWindowClosing({ database, recordRefusals: identity.recordRepeatedRefusals, log, interval });
  return {
    checkpoints,
    prepare: retention.prepare,
    start() {
      checkpoints.start();
      retention.start();
      windowClosing.start();
    },
    async close() {
      await retention.close();
      await windowClosing.close();
      await checkpoints.close();
    },
  };
}
