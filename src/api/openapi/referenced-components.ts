import { isObject, type Json, type JsonObject } from '../../operators/index.ts';

/** The sections of components, such as `schemas`, with the components by name. */
type Sections = Readonly<Record<string, JsonObject>>;

/** Returns the components that the paths refer to, directly or through other components. A document without resources needs only some. */
export function selectReferenced(components: Sections, paths: JsonObject): Sections {
  const references = new Set<string>();
  const collect = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(collect);
    if (!isObject(value)) return;
    const { $ref: reference } = value;
    if (typeof reference === 'string' && !references.has(reference)) {
      references.add(reference);
      collect(findComponent(components, reference) ?? null);
    }
    Object.values(value).forEach(collect);
  };
  collect(paths);
  const sections = Object.entries(components).map(([section, all]): [string, JsonObject] => {
    const referenced = Object.entries(all).filter(([name]) => references.has(`#/components/${section}/${name}`));
    return [section, Object.fromEntries(referenced)];
  });
  return Object.fromEntries(sections);
}

function findComponent(components: Sections, reference: string): Json | undefined {
  const [, section = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(reference) ?? [];
  return components[section]?.[name];
}
