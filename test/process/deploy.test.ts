/** The files of `deploy/` name settings that exist, run Node with its options, and give the service the time that its shutdown needs. */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { NODE_OPTIONS } from '../../bench/process.ts';
import { CONFIG_OPTIONS, parseConfig } from '../../src/config/index.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const FILES = ['deploy/bailiwick.service', 'deploy/kubernetes.yaml', 'templates/common/Dockerfile', 'templates/common/compose.yaml'];
const VARIABLES = new Set([...CONFIG_OPTIONS.values()].map(({ env }) => env));

/** The value at a dotted path, whose parts are names or numbers. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((found: unknown, name) => Object(found)[name], value);
}

describe('deployment', () => {
  it.each(FILES)('every setting of %s exists', (name) => {
    const named = read(name).match(/\bBAILIWICK_[A-Z_]+/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((variable) => !VARIABLES.has(variable))).toEqual([]);
  });

  it('the image and new projects install packages without running scripts of packages', () => {
    expect(read('templates/common/Dockerfile').match(/npm ci.*/g)).toEqual([expect.stringContaining('--ignore-scripts')]);
    expect(read('templates/common/_npmrc')).toMatch(/^ignore-scripts=true$/m);
  });

  it.each(['package.json', 'bin/bailiwick.js', 'deploy/bailiwick.service', 'templates/common/Dockerfile', 'docs/guides/operating.md'])(
    '%s runs Node with the options with which the benchmarks run it',
    (name) => {
      const commands = read(name)
        .split('\n')
        .map((line) => line.match(/--(?:max-semi-space|v8-pool)-size=\d+/g) ?? [])
        // In the guide, each option also has a line of its own.
        .filter((options) => options.length > 1 || name !== 'docs/guides/operating.md')
        .filter((options) => options.length > 0);
      expect(commands.length).toBeGreaterThan(0);
      expect(commands).toEqual(commands.map(() => NODE_OPTIONS));
    },
  );

  it('the container of a new project takes the settings of .env, except those that its image and compose.yaml fix', () => {
    const image = read('templates/common/Dockerfile').matchAll(/(BAILIWICK_[A-Z]+)=(\S+)/g);
    const container = at(parse(read('templates/common/compose.yaml')), 'services.bailiwick');
    const mounted = { type: 'bind', source: './.env', target: '/app/.env', read_only: true, bind: { create_host_path: false } };
    expect(at(container, 'volumes')).toContainEqual(mounted);
    expect(read('templates/common/Dockerfile').match(/^WORKDIR .*/gm)).toEqual(['WORKDIR /app', 'WORKDIR /app']);
    expect(at(container, 'environment')).toEqual({
      ...Object.fromEntries(Array.from(image, ([, name, value]) => [name, value])),
      BAILIWICK_PORT: 8787,
      BAILIWICK_DATABASE: expect.stringMatching(/^postgres:/),
    });
    expect(at(container, 'ports')).toEqual(['127.0.0.1:8787:8787']);
  });

  it.each([
    ['BAILIWICK_PORT', { PORT: '1' }],
    ['PORT', { BAILIWICK_PORT: '' }],
  ])('the health check of the image asks the port of %s', async (name, others) => {
    const [, command = ''] = /^HEALTHCHECK .*CMD (.*)$/m.exec(read('templates/common/Dockerfile')) ?? [];
    const [, ...args] = JSON.parse(command) as readonly string[];
    const paths: (string | undefined)[] = [];
    const server = createServer(({ url }, response) => {
      paths.push(url);
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const env = { ...others, [name]: String((server.address() as AddressInfo).port) };
      await promisify(execFile)(process.execPath, args, { env });
      expect(paths).toEqual(['/readyz']);
    } finally {
      server.close();
    }
  });

  it('the Kubernetes manifests are valid YAML, and their names agree', () => {
    const documents = parseAllDocuments(read('deploy/kubernetes.yaml'));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const [set, service, budget] = documents.map((document) => document.toJS() as unknown);
    const labels = at(set, 'spec.template.metadata.labels');
    expect([at(set, 'spec.selector.matchLabels'), at(service, 'spec.selector'), at(budget, 'spec.selector.matchLabels')]).toEqual([
      labels,
      labels,
      labels,
    ]);
    expect(at(set, 'spec.serviceName')).toBe(at(service, 'metadata.name'));
    const mounts = at(set, 'spec.template.spec.containers.0.volumeMounts') as readonly { readonly name: string }[];
    const volumes = [at(set, 'spec.volumeClaimTemplates.0.metadata.name'), at(set, 'spec.template.spec.volumes.0.name')];
    expect(mounts.map(({ name }) => name)).toEqual(volumes);
  });

  it('Kubernetes sets no variables for services, one of which would be the invalid setting BAILIWICK_PORT', () => {
    const [set] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS() as unknown);
    expect(at(set, 'spec.template.spec.enableServiceLinks')).toBe(false);
  });

  it('Kubernetes and systemd wait as long as a shutdown can take, and pods drain longer than their probe needs', () => {
    const [set] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS() as unknown);
    const pod = at(set, 'spec.template.spec');
    const variables = at(pod, 'containers.0.env') as readonly { readonly name: string; readonly value: string }[];
    const env = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
    const { drainDelaySeconds, drainSeconds } = parseConfig({ env });
    expect(at(pod, 'terminationGracePeriodSeconds')).toBeGreaterThanOrEqual(drainDelaySeconds + drainSeconds + 5);
    const { periodSeconds, failureThreshold } = at(pod, 'containers.0.readinessProbe') as Record<string, number>;
    expect(drainDelaySeconds).toBeGreaterThan((periodSeconds ?? 0) * (failureThreshold ?? 0));
    const [, stop] = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/bailiwick.service')) ?? [];
    const defaults = parseConfig({ env: {} });
    expect(Number(stop)).toBeGreaterThanOrEqual(defaults.drainDelaySeconds + defaults.drainSeconds + 5);
  });

  it.skipIf(!existsSync('/usr/bin/systemd-analyze') || !existsSync('/usr/bin/node'))('systemd accepts the unit', () => {
    const unit = fileURLToPath(new URL('../../deploy/bailiwick.service', import.meta.url));
    expect(execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })).toBe('');
  });
});
