/** Lists and objects as raw JSON: their values keep every digit, and are not parsed. Texts that are not JSON are left to the service. */
import { endOfString } from '../../../components/strict-json.ts';

/** A member of an object: its name, and its value as the file has it. */
export interface RawMember {
  readonly name: string;
  readonly value: string;
}

/** Returns the members of an object in their order, also those with the same name; undefined if the text is no object. */
export function membersOf(text: string): readonly RawMember[] | undefined {
  const parts = partsOf(text.trim(), '{', '}');
  const members = parts?.map(toMember);
  return members?.every((member) => member !== undefined) ? members : undefined;
}

/** Returns the items of a list as the file has them; undefined if the text is no list. */
export function itemsOf(text: string): readonly string[] | undefined {
  return partsOf(text.trim(), '[', ']');
}

/** Returns the object with these members. */
export function toObjectText(members: readonly RawMember[]): string {
  return `{${members.map(({ name, value }) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** Splits the content of brackets at its outer commas. A loop over the characters, because a pattern could take quadratic time. */
function partsOf(text: string, open: string, close: string): readonly string[] | undefined {
  if (!text.startsWith(open) || !text.endsWith(close) || text.length < 2) return undefined;
  const parts: string[] = [];
  let depth = 0;
  let from = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') {
      depth--;
      // Text after the last bracket is no JSON.
      if (depth === 0 && at < text.length - 1) return undefined;
    } else if (character === ',' && depth === 1) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  if (depth !== 0) return undefined;
  const last = text.slice(from, -1).trim();
  if (parts.length === 0 && last === '') return [];
  return [...parts, last].includes('') ? undefined : [...parts, last];
}

function toMember(part: string): RawMember | undefined {
  if (!part.startsWith('"')) return undefined;
  const end = endOfString(part, 0);
  const rest = part.slice(end).trimStart();
  const value = rest.slice(1).trimStart();
  if (!rest.startsWith(':') || value === '') return undefined;
  try {
    return { name: String(JSON.parse(part.slice(0, end))), value };
  } catch {
    // An invalid escape: the service names it.
    return undefined;
  }
}
