/** The default theme without its web font, in the colours of the console. The front page has the first commands and a picture of the console. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import dark from '../../../docs/guides/images/console-simulator-dark.webp';
import light from '../../../docs/guides/images/console-simulator-light.webp';
import './style.css';

const COMMANDS = 'npx bailiwick init blog\ncd blog && npm install\nnpm run dev';
const ALT = 'The simulator of the console: a request is denied, and the rule that would have allowed it misses one condition';

const theme: Theme = {
  ...DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, undefined, {
      'home-hero-actions-after': () => h('pre', { class: 'first-commands' }, h('code', COMMANDS)),
      'home-hero-image': () => [
        h('img', { class: 'console-picture light-only', src: light, alt: ALT }),
        h('img', { class: 'console-picture dark-only', src: dark, alt: ALT }),
      ],
    }),
};

export default theme;
