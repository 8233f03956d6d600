import type { JsonObject } from '../../operators/index.ts';
import { type TypeDeclarations, toComment, toInlineType } from './schema-text.ts';

/** The types that a generated module declares. */
export interface DeclaredTypes extends TypeDeclarations {
  /** Declares the type of a schema. Returns its name, which differs from the wanted one if that is taken. */
  declare(wanted: string, schema: JsonObject): string;
  /** Returns the declarations, in the order of their first use. */
  texts(): readonly string[];
}

interface DeclarationOptions {
  /** Names that the module declares itself. */
  readonly reserved?: readonly string[];
  /** The names of the types of some components. */
  readonly names?: ReadonlyMap<string, string>;
}

/** Creates the types of a module. */
export function createDeclaredTypes({ reserved = [], names: given }: DeclarationOptions): DeclaredTypes {
  const texts = new Map<string, string>(reserved.map((name) => [name, '']));
  const names = new Map<string, string>();
  const declared: DeclaredTypes = {
    nameOf(component, schema) {
      const known = names.get(component);
      if (known !== undefined) return known;
      const name = findFreeName(given?.get(component) ?? toTypeName(component), texts);
      // Kept before the members are rendered, because a type may contain itself.
      names.set(component, name);
      return declared.declare(name, schema);
    },
    declare(wanted, schema) {
      const name = findFreeName(wanted, texts);
      texts.set(name, '');
      texts.set(name, toDeclaration(name, schema, declared));
      return name;
    },
    texts: () => [...texts.values()].filter((text) => text !== ''),
  };
  return declared;
}

function toDeclaration(name: string, schema: JsonObject, declared: DeclaredTypes): string {
  const text = toInlineType(schema, declared);
  const comment = toComment(schema);
  return text.startsWith('{') && schema['type'] === 'object'
    ? `${comment}export interface ${name} ${text}\n`
    : `${comment}export type ${name} = ${text};\n`;
}

/** Returns the name of the type of a component, such as `ArticleStatus` for `Article.values.status` and `TextFilter` for `filter.text`. */
function toTypeName(component: string): string {
  const [group = '', ...parts] = component.split('.').filter((part) => part !== 'values');
  if (group === 'filter') return `${parts.toReversed().map(capitalize).join('')}Filter`;
  return (group === 'api' || group === 'admin' ? parts : [group, ...parts]).map(capitalize).join('');
}

/** Returns a text that begins with a capital: so no type is named like a keyword. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function findFreeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}${number}`)) number += 1;
  return `${wanted}${number}`;
}
