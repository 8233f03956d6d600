/** The configuration as an admin may see it: values with their sources, and without secrets. */
import { CONFIG_OPTIONS, type Config, type ConfigOption, type ConfigOptionName, type OptionSource, sourceOf } from './config.ts';

/** An option with its value and source. */
export interface DescribedOption {
  readonly name: ConfigOptionName;
  readonly group: string;
  readonly source: OptionSource;
  /** Absent for a secret, and for an optional option without a value. */
  readonly value?: string | number | readonly string[];
  /** True for a secret that has a value. */
  readonly isHidden?: true;
}

/** Returns every option with its value and source. Secrets have no value, and the address of a database has neither user nor password. */
export function describeConfig(config: Config): readonly DescribedOption[] {
  return [...CONFIG_OPTIONS.values()].map((option) => {
    const { name, group } = option;
    return { name, group, source: sourceOf(config, name), ...describeValue(option, config[name]) };
  });
}

function describeValue({ form }: ConfigOption, value: Config[ConfigOptionName]): Pick<DescribedOption, 'value' | 'isHidden'> {
  if (value === undefined) return {};
  if (form === 'secret') return { isHidden: true };
  return { value: form === 'database' ? withoutCredentials(String(value)) : value };
}

/** Returns the address of a database without its user, its password and its parameters, which may contain a password too. */
function withoutCredentials(address: string): string {
  if (address.startsWith('sqlite:')) return address;
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
