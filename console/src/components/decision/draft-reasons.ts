import { decisionsTexts } from '../../texts/decisions.ts';
import { isolateNames } from '../../texts/sentence.ts';

/**
 * Returns the reason of a decision for people: names cannot change the order of its words, and a rule of a draft without a description is a new
 * rule, because its id says nothing.
 */
export function readableReason(reason: string): string {
  return isolateNames(reason.replace(/rule "draft:[\d.:]+"/g, decisionsTexts.newRule));
}
