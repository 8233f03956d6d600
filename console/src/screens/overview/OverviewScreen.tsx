import { Page } from '../../components/Page.tsx';
import { shellTexts } from '../../texts/shell.ts';

/** The first screen of an admin. */
export function OverviewScreen() {
  return <Page title={shellTexts.screens.overview}>{null}</Page>;
}
