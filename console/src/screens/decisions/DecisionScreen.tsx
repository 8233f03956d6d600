import { Page } from '../../components/Page.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { DecisionDetail } from './DecisionDetail.tsx';
import { decisionRoute } from './route.ts';

/** One audit entry, at an address of its own. */
export function DecisionScreen() {
  const { id } = decisionRoute.useParams();
  return (
    <Page
      title={texts.detail.title}
      description={id}
      actions={
        <TextLink to="/decisions" size="sm">
          {texts.detail.all}
        </TextLink>
      }
    >
      <DecisionDetail key={id} id={id} />
    </Page>
  );
}
