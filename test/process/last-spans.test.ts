/** The export of the spans of the last requests, with an SDK of OpenTelemetry whose exporter takes some milliseconds. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-last-spans-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a module that registers an SDK, which appends the names of exported spans to a file. */
function writeSdk(name: string): { readonly preload: string; exported(): string } {
  const [preload, file] = [join(folder, `${name}.mjs`), join(folder, `${name}.txt`)];
  const urlOf = (specifier: string): string => JSON.stringify(import.meta.resolve(specifier));
  writeFileSync(
    preload,
    `import { appendFileSync } from 'node:fs';
    import { trace } from ${urlOf('@opentelemetry/api')};
    import { BatchSpanProcessor, TracerProvider } from ${urlOf('@opentelemetry/sdk-trace')};
    const exporter = {
      export(spans, done) {
        setTimeout(() => {
          for (const { name } of spans) appendFileSync(${JSON.stringify(file)}, name + '\\n');
          done({ code: 0 });
        }, 20);
      },
      shutdown: async () => undefined,
    };
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 600_000 })] }));`,
  );
  return { preload, exported: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') };
}

it.each([['1'], ['2']])(
  'the spans of the last requests are exported before the end of %s worker processes',
  async (workers) => {
    const { preload, exported } = writeSdk(`sdk-${workers}`);
    const program = await startProgram({ data: join(folder, workers), args: ['--tracing', 'on', '--workers', workers], preload });
    try {
      await (await fetch(`${program.url}/api/Tip`)).text();
      expect(await program.stop()).toBe(0);
      expect(exported()).toBe('GET /api/:resource\n');
    } finally {
      await program.stop('SIGKILL');
    }
  },
  120_000,
);
