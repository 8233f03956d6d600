import { PolicyLink } from '../../components/PolicyLink.tsx';
import { Verdict } from '../../components/Verdict.tsx';
import { accessTexts as texts } from '../../texts/access.ts';
import { isolate, sentence } from '../../texts/sentence.ts';
import type { Possible } from './who-can-changes.ts';

/** The verdict of a role or user that may perform an action, at least under a condition. */
export function PossibleVerdict({ effect }: Pick<Possible, 'effect'>) {
  return <Verdict allowed={effect === 'allow' ? true : undefined} label={texts.effects[effect]} />;
}

/** A link to the rule that allows an action. */
export function WhoCanRule({ policy, rule }: Pick<Possible, 'policy' | 'rule'>) {
  return (
    <PolicyLink id={policy.id} rule={rule.id} size="sm">
      {isolate(policy.name)}
      {rule.description !== undefined && sentence`, ${rule.description}`}
    </PolicyLink>
  );
}
