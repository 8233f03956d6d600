/** Which part gets which settings: nothing but `service.ts` sees them all. */

import type { AuditMaintenanceOptions } from './audit/maintenance.ts';
import type { AuthenticationOptions } from './authn/index.ts';
import type { PolicyStoreOptions } from './authz/index.ts';
import type { PolicyLimits } from './authz/policies/index.ts';
import { type Config, toSetup } from './config/index.ts';
import { isLoopback, parseAge, parseListening } from './config/option.ts';
import type { HttpLimits } from './http/index.ts';
import type { MonitoringOptions } from './observability/monitoring.ts';
import type { PipelineOptions } from './pipeline/index.ts';
import type { RequestLimits } from './request/index.ts';
import type { CursorKey } from './storage/index.ts';
import type { ImportBounds } from './transfer/index.ts';
import type { PrimaryOptions } from './workers/index.ts';

/** Bounds on what requests ask for. */
export function toRequestLimits(settings: Config): RequestLimits {
  const { pageMax, exportMax, whereItems, filterListItems, sortKeys, batchItems, importRows, anonymousBodyBytes } = settings;
  return { pageMax, exportMax, whereItems, filterListItems, sortKeys, batchItems, importRows, anonymousBodyBytes };
}

/** Bounds that the server keeps. */
export function toHttpLimits(settings: Config): HttpLimits {
  const { bodyBytes, jsonDepth, requestTimeoutSeconds, drainDelaySeconds, drainSeconds, rateLimit } = settings;
  return { bodyBytes, jsonDepth, requestTimeoutSeconds, drainDelaySeconds, drainSeconds, rateLimit };
}

/** Returns the allowed names in Host headers; undefined allows any. DNS rebinding attacks services that listen on loopback only. */
export function toAllowedHosts({ allowedHosts, host, trustProxy }: Config): readonly string[] | undefined {
  return allowedHosts.length > 0 || (trustProxy.length === 0 && isLoopback(host)) ? allowedHosts : undefined;
}

/** Where metrics are shown, and to whom. */
export function toMonitoringOptions(settings: Config): MonitoringOptions {
  const { metricsAddress, metricsToken, logLevel, allowedHosts } = settings;
  const isOpen = !isLoopback(parseListening(metricsAddress ?? '')?.host ?? '');
  return { metricsAddress, metricsToken, logLevel, limits: toHttpLimits(settings), allowedHosts: isOpen ? undefined : allowedHosts };
}

/** How many processes serve, and how they are seen to. */
export function toPrimaryOptions(settings: Config): PrimaryOptions {
  const { workers, drainDelaySeconds, drainSeconds } = settings;
  return { workers, monitor: toMonitoringOptions(settings), endSeconds: drainDelaySeconds + drainSeconds + END_SECONDS };
}

/** For what is left to do when requests have ended: commits, connections. */
const END_SECONDS = 10;

/** Bounds of what is imported. A row may be as long as the body that would create its record. */
export function toImportBounds({ importBytes, importStreamBytes, bodyBytes, jsonDepth }: Config): ImportBounds {
  return { bodyBytes: importBytes, streamBytes: importStreamBytes, rowLength: bodyBytes, depth: jsonDepth };
}

/** How the record is signed, and for how long it is kept. */
export function toAuditMaintenanceOptions({ checkpoints, data, decisionsKept }: Config): AuditMaintenanceOptions {
  return { checkpoints: checkpoints === 'off' ? undefined : checkpoints, data, days: parseAge(decisionsKept) };
}

/** Tokens, logins, passwords. */
export function toAuthenticationOptions(settings: Config): AuthenticationOptions {
  const { jwtIssuer, jwtAudience, trustedIssuers, accessTokenSeconds, refreshTokenSeconds } = settings;
  const { loginAttempts, loginAttemptsPerAddress, loginWindowSeconds, hashConcurrency } = settings;
  const { loginAttemptsPerAccount, loginAccountWindowSeconds } = settings;
  return {
    jwtIssuer,
    jwtAudience,
    trustedIssuers,
    accessTokenSeconds,
    refreshTokenSeconds,
    loginAttempts,
    loginAttemptsPerAddress,
    loginWindowSeconds,
    loginAttemptsPerAccount,
    loginAccountWindowSeconds,
    hashConcurrency,
    setup: toSetup(settings),
  };
}

/** Bounds on policies and their conditions. */
export function toPolicyLimits(settings: Config): PolicyLimits {
  return {
    rules: settings.policyRules,
    conditions: {
      depth: settings.conditionDepth,
      comparisons: settings.conditionComparisons,
      listItems: settings.conditionListItems,
      textLength: settings.conditionTextLength,
      expressionLength: settings.expressionLength,
      expressionDepth: settings.expressionDepth,
    },
  };
}

/** Bounds on what decisions are made on. */
export function toPolicyStoreOptions(settings: Config): PolicyStoreOptions {
  return { ...toPolicyLimits(settings), grants: settings.assignmentsCached };
}

/** What the steps of a request go by. */
export function toPipelineOptions(settings: Config, cursorKey: CursorKey): PipelineOptions {
  const { timezone, pageDefault, exportMax, scanRows, scanMilliseconds, expandMax, cascadeMax, auditFactsBytes, ifMatch } = settings;
  return {
    timeZone: timezone,
    pageDefault,
    exportMax,
    scanRows,
    scanMilliseconds,
    expandMax,
    cascadeMax,
    factsBytes: auditFactsBytes,
    ifMatch,
    cursorKey,
  };
}
