import type { RequestLimits } from '../../request/index.ts';
import type { Resource } from '../../resources/index.ts';
import { createExamples, type RecordExamples } from './record-examples.ts';
import { createForms, type ResourceForms, withoutSecretFields } from './record-forms.ts';

/** A resource with its schemas and examples. */
export interface DescribedResource {
  readonly resource: Resource;
  readonly forms: ResourceForms;
  readonly examples: RecordExamples;
  readonly limits: RequestLimits;
}

/** Creates the schemas and examples of resources. They name no other resource. */
export function describeResources(resources: readonly Resource[], limits: RequestLimits): readonly DescribedResource[] {
  return resources.map((resource) => {
    const examples = createExamples(withoutSecretFields(resource));
    return { resource, forms: createForms(resource, resources), examples, limits };
  });
}
