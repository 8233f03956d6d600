import { decisionsTexts } from '../../texts/decisions.ts';

/** Returns the reason of a decision under a draft. A rule without a description is named by its id, and the id of a new rule says nothing. */
export function readableReason(reason: string): string {
  return reason.replace(/rule "draft:[\d.:]+"/g, decisionsTexts.newRule);
}
