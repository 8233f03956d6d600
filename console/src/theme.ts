import { type CSSVariablesResolver, createTheme, type MantineThemeOverride } from '@mantine/core';
import { commonTexts } from './texts/common.ts';

/** The theme: system fonts, and shades of the colours with a contrast of at least 4.5 in light and dark. */
export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  components: {
    // Values that a user may read but not change keep their contrast: a disabled field is known by its background.
    // A value that is wider than its field is cut off before the buttons in it.
    Input: { styles: { input: { opacity: 1, textOverflow: 'ellipsis' } } },
    // Links are names of users. In a row they may become narrower than their longest word.
    Anchor: { styles: { root: { overflowWrap: 'anywhere' } } },
    // The library centres the loader by a transition, which reduced motion removes.
    Button: { styles: { loader: { transform: 'translate(-50%, -50%)' } } },
    CloseButton: { defaultProps: { 'aria-label': commonTexts.close } },
    Modal: {
      defaultProps: { centered: true, closeButtonProps: { 'aria-label': commonTexts.close } },
      styles: { title: { fontWeight: 650 } },
    },
    Drawer: {
      defaultProps: { position: 'right', closeButtonProps: { 'aria-label': commonTexts.close } },
      styles: { title: { fontWeight: 650 } },
    },
    // The tags in a field for several values: the colour of the library is that of the page.
    Pill: { styles: { root: { background: 'var(--mantine-color-gray-light)' } } },
    Badge: {
      defaultProps: { tt: 'none', variant: 'light' },
      // A badge can contain a text of a user, such as a tag: a long one has several lines.
      styles: {
        root: { flexShrink: 0, maxWidth: '100%', height: 'auto', minHeight: 'var(--badge-height)', overflow: 'visible' },
        label: { overflow: 'visible', whiteSpace: 'normal', overflowWrap: 'break-word' },
      },
    },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true, multiline: true, maw: 360 } },
  },
});

/** Colours of texts with a contrast of at least 4.5. Those of the library have less: 3.3 for secondary texts, 3.8 for green badges. */
export const cssVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[8],
    '--mantine-color-disabled-color': colors.gray[7],
    '--mantine-color-anchor': colors.blue[9],
    '--mantine-color-blue-light-hover': colors.blue[1],
    '--mantine-color-green-light-color': '#1f6f31',
    '--mantine-color-teal-light-color': '#05573f',
    '--mantine-color-yellow-light-color': '#664d03',
    '--mantine-color-orange-light-color': '#8a3400',
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
    '--mantine-color-error': colors.red[4],
    '--mantine-color-disabled-color': colors.dark[1],
    // The colours of the library have too little contrast here.
    '--mantine-color-gray-light': colors.dark[4],
    '--mantine-color-gray-light-hover': colors.dark[3],
    '--mantine-color-gray-light-color': colors.gray[3],
    '--mantine-color-yellow-light': '#453708',
    '--mantine-color-yellow-light-hover': '#524210',
    '--mantine-color-yellow-light-color': colors.yellow[2],
  },
});
