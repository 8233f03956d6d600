import { rmSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** The declarations that `tsc` writes: a file for each source that `src/index.ts` reaches. */
const DECLARATIONS = 'dist/declarations';

const removeDeclarations: Plugin = {
  name: 'remove-declarations',
  closeBundle: () => rmSync(DECLARATIONS, { recursive: true }),
};

/** Bundles the declarations of the library into one file, without the types that no export names. Types of packages stay imports. */
const config: RolldownOptions = defineConfig({
  input: { index: `${DECLARATIONS}/index.d.ts` },
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  // The plugin reads declarations and writes none, so it needs no compiler: TypeScript 7 has no API.
  plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false, oxc: true }), removeDeclarations],
  output: { dir: 'dist/types' },
});

export default config;
