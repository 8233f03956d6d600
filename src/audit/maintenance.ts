/** What a running service does for its record besides appending to it: signs where it ends, and sees to how long it is kept. */

import type { Database, Log } from '../storage/index.ts';
import {
  type Checkpoints,
  createCheckpoints,
  loadCheckpointKey,
  NO_CHECKPOINTS,
  publicKeyPath,
  readPublicKeys,
} from './integrity/index.ts';
import { createRetention, type Retention } from './retention/index.ts';

/** How the record is kept. */
export interface AuditMaintenanceOptions {
  /** File of signed checkpoints; undefined where none are made. */
  readonly checkpoints: string | undefined;
  /** Folder of their key. */
  readonly data: string;
  /** Days that entries are kept; undefined for as long as nobody prunes them. */
  readonly days: number | undefined;
}

/** Keeps the record. */
export interface AuditMaintenance extends Retention {
  readonly checkpoints: Checkpoints;
}

/** Makes both of its parts. */
export function createAuditMaintenance(
  { checkpoints: path, data, days }: AuditMaintenanceOptions,
  { database, tell = () => undefined }: { readonly database: Database; readonly tell: Log | undefined },
): AuditMaintenance {
  const key = (): ReturnType<typeof loadCheckpointKey> => loadCheckpointKey(data);
  // Who makes none may have pruned: then chains begin where that was signed.
  const none = (): Checkpoints => ({ ...NO_CHECKPOINTS, keys: readPublicKeys(publicKeyPath(data)) });
  const checkpoints = path === undefined ? none() : createCheckpoints({ database, path, key: key(), tell });
  const retention = createRetention({ database, path, key, tell, days });
  return {
    checkpoints,
    prepare: retention.prepare,
    start() {
      checkpoints.start();
      retention.start();
    },
    async close() {
      await retention.close();
      await checkpoints.close();
    },
  };
}
