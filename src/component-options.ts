/** Maps the configuration to the options of each component. */
import type { AuditMaintenanceOptions } from './audit/maintenance.ts';
import type { AuthenticationOptions } from './authn/index.ts';
import type { PolicyStoreOptions } from './authz/index.ts';
import type { DamagedRow, PolicyLimits } from './authz/policies/index.ts';
import { type Config, describeConfig, toSetup } from './config/index.ts';
import { isLoopback, parseAge, parseListening } from './config/option.ts';
import type { HttpLimits } from './http/index.ts';
import type { MonitoringOptions } from './observability/monitoring.ts';
import type { PipelineOptions } from './pipeline/index.ts';
import type { DiskSpaceOptions, SystemSourceDeps } from './project/index.ts';
import type { RequestLimits } from './request/index.ts';
import { type CursorKeys, describeDamage, type Log } from './storage/index.ts';
import type { ImportLimits } from './transfer/index.ts';
import type { PrimaryOptions } from './workers/index.ts';

/** Returns the limits on requests. */
export function toRequestLimits(config: Config): RequestLimits {
  const { pageMax, exportMax, whereItems, filterListItems, sortKeys, batchItems, importRows, anonymousBodyBytes } = config;
  return { pageMax, exportMax, whereItems, filterListItems, sortKeys, batchItems, importRows, anonymousBodyBytes };
}

/** Returns the limits of the HTTP server. */
export function toHttpLimits(config: Config): HttpLimits {
  const { bodyBytes, jsonDepth, requestTimeoutSeconds, drainDelaySeconds, drainSeconds, rateLimit } = config;
  return { bodyBytes, jsonDepth, requestTimeoutSeconds, drainDelaySeconds, drainSeconds, rateLimit };
}

/**
 * Returns the allowed names in Host headers; undefined allows any name. By default, names are checked only on loopback without a proxy,
 * where DNS rebinding is a threat.
 */
export function toAllowedHosts({ allowedHosts, host, trustProxy }: Config): readonly string[] | undefined {
  return allowedHosts.length > 0 || (trustProxy.length === 0 && isLoopback(host)) ? allowedHosts : undefined;
}

/** Returns the options of the metrics server, with the address to listen on. */
export function toMonitoringOptions(config: Config): MonitoringOptions {
  const { metricsAddress, metricsToken, logLevel, allowedHosts, tracing } = config;
  const isOpen = !isLoopback(parseListening(metricsAddress ?? '')?.host ?? '');
  const hosts = isOpen ? undefined : allowedHosts;
  return { metricsAddress, metricsToken, logLevel, limits: toHttpLimits(config), allowedHosts: hosts, isTraced: tracing === 'on' };
}

/** Returns the options of the primary. */
export function toPrimaryOptions(config: Config): Omit<PrimaryOptions, 'envFile'> {
  const { workers, drainDelaySeconds, drainSeconds } = config;
  return { workers, monitor: toMonitoringOptions(config), endSeconds: drainDelaySeconds + drainSeconds + END_SECONDS };
}

/** Seconds that a worker has, after its requests have ended, to commit and to close its connections. */
const END_SECONDS = 10;

/** Returns the limits of imports. A row may be as long as a request body. */
export function toImportLimits({ importBytes, importStreamBytes, bodyBytes, jsonDepth }: Config): ImportLimits {
  return { bodyBytes: importBytes, streamBytes: importStreamBytes, rowLength: bodyBytes, depth: jsonDepth };
}

/** Returns the options of checkpoints and retention. */
export function toAuditMaintenanceOptions({ checkpoints, data, decisionsKept, denialWindowSeconds }: Config): AuditMaintenanceOptions {
  const path = checkpoints === 'off' ? undefined : checkpoints;
  return { checkpoints: path, data, days: parseAge(decisionsKept), windowSeconds: denialWindowSeconds };
}

/** Returns the thresholds of free disk space. */
export function toDiskSpaceOptions(config: Config): Omit<DiskSpaceOptions, 'database' | 'log' | 'everyMs'> {
  const { database, diskWarnBytes, diskMinBytes, databaseMaxBytes, metricsAddress, metricsToken } = config;
  const measuresSize = metricsAddress !== undefined || metricsToken !== undefined;
  return { address: database, warnBytes: diskWarnBytes, minBytes: diskMinBytes, maxBytes: databaseMaxBytes, measuresSize };
}

/** Returns the configuration that admins see, and the folder of backups. A server has backup tools of its own. */
export function toSystemOptions(config: Config): Pick<SystemSourceDeps, 'options' | 'data'> {
  return { options: describeConfig(config), data: config.database.startsWith('sqlite:') ? config.data : undefined };
}

/** Returns the options of tokens, logins and passwords. */
export function toAuthenticationOptions(config: Config): AuthenticationOptions {
  const { jwtIssuer, jwtAudience, trustedIssuers, accessTokenSeconds, refreshTokenSeconds, sessionIdleSeconds, sessionMaxSeconds } = config;
  const { loginAttempts, loginAttemptsPerAddress, loginWindowSeconds, hashConcurrency } = config;
  const { loginAttemptsPerAccount, loginAccountWindowSeconds } = config;
  return {
    jwtIssuer,
    jwtAudience,
    trustedIssuers,
    accessTokenSeconds,
    refreshTokenSeconds,
    sessionIdleSeconds,
    sessionMaxSeconds,
    loginAttempts,
    loginAttemptsPerAddress,
    loginWindowSeconds,
    loginAttemptsPerAccount,
    loginAccountWindowSeconds,
    hashConcurrency,
    setup: toSetup(config),
  };
}

/** Returns the limits of policies and their conditions. */
export function toPolicyLimits(config: Config): PolicyLimits {
  return {
    rules: config.policyRules,
    conditions: {
      depth: config.conditionDepth,
      references: config.conditionReferences,
      relatedRecords: config.conditionRelatedRecords,
      comparisons: config.conditionComparisons,
      listItems: config.conditionListItems,
      textLength: config.conditionTextLength,
      expressionLength: config.expressionLength,
      expressionDepth: config.expressionDepth,
    },
  };
}

/** Returns the options of the policy store, which logs each damaged row once. */
export function toPolicyStoreOptions(config: Config, log: Log = () => undefined): PolicyStoreOptions {
  const onDamage = (row: DamagedRow): void => log(`${describeDamage(row)}; run "bailiwick verify"`);
  return { ...toPolicyLimits(config), maxAssignments: config.assignmentsCached, onDamage };
}

/** Returns the options of the request pipeline. */
export function toPipelineOptions(config: Config, cursorKeys: CursorKeys): PipelineOptions {
  const { timezone, pageDefault, exportMax, expandMax, cascadeMax, auditFactsBytes, ifMatch } = config;
  const { scanRows, scanMilliseconds, answerBytes, writeMilliseconds, anonymousBudget } = config;
  return {
    timeZone: timezone,
    pageDefault,
    exportMax,
    budget: { milliseconds: scanMilliseconds, rows: scanRows, answerBytes, writeMilliseconds },
    anonymousBudget,
    expandMax,
    cascadeMax,
    factsBytes: auditFactsBytes,
    ifMatch,
    cursorKeys,
  };
}
