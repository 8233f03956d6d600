import type { Plugin } from 'vite';

/** A module of the component library that has the names of the classes of one component. */
const CLASS_NAMES = /\/@mantine\/core\/esm\/.*\/(?<component>\w+)\.module\.mjs$/;

/**
 * Returns the plugins that import the style sheets of the component library. A build has those of the components that it contains, each in the
 * chunk of its component. A module imports the components that it extends before its own class names, so the rules have the right order. All are
 * in the layer `mantine`, so the rules of the console come first, whichever chunk is loaded last. The development server has all style sheets.
 */
export function componentStyles(): Plugin[] {
  return [
    {
      name: 'component-styles',
      apply: 'build',
      transform: {
        filter: { id: CLASS_NAMES },
        handler(code, id) {
          const component = CLASS_NAMES.exec(id)?.groups?.['component'];
          return { code: `import '@mantine/core/styles/${component}.layer.css';\n${code}`, map: null };
        },
      },
    },
    {
      name: 'all-component-styles',
      apply: 'serve',
      transform: {
        filter: { id: /\/console\/src\/main\.tsx$/ },
        handler: (code) => ({ code: `import '@mantine/core/styles.layer.css';\n${code}`, map: null }),
      },
    },
  ];
}
