import { EmptyState } from '../../components/EmptyState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { dataTexts as texts } from '../../texts/data.ts';

/** Shown instead of the records of a resource that does not exist, or that the caller may not use: both look alike. */
export function UnusableResource({ name }: { readonly name: string }) {
  return <EmptyState title={texts.unusable(name)} detail={texts.none.detail} action={<TextLink to="/data">{texts.all}</TextLink>} />;
}
