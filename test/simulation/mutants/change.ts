// Ways to start the controller with something otherwise: in a port, in a rule, or in what they see. Nothing of it is in
// the product.

import type { KubeObject } from "../../../src/api/meta.ts";
import type { ControllerOptions } from "../../../src/control/controller.ts";
import type { KubeApi } from "../../../src/control/ports.ts";
import type { Context, Decision, Rule } from "../../../src/decide/decision.ts";
import type { Picture } from "../../../src/snapshot/picture.ts";

export type Change = (options: ControllerOptions) => ControllerOptions;

/** The same object, but for some of its members. */
export function altered<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, key) {
      const [owner, found] = Object.hasOwn(members, key) ? [members, members] : [target, target];
      const value: unknown = Reflect.get(owner, key, found);
      return typeof value === "function" ? (value.bind(found) as unknown) : value;
    },
  });
}

export function withApi(members: (api: KubeApi) => Partial<KubeApi>): Change {
  return options => ({ ...options, api: altered(options.api, members(options.api)) });
}

type Provider = ControllerOptions["provider"];

export function withProvider(members: (provider: Provider) => Partial<Provider>): Change {
  return options => ({ ...options, provider: altered(options.provider, members(options.provider)) });
}

/** One rule answers otherwise. */
export function withRule(name: string, change: (rule: Rule) => Rule["decide"]): Change {
  return options => ({
    ...options,
    rules: options.rules.map(rule => (rule.name === name ? { ...rule, decide: change(rule) } : rule)),
  });
}

/** One rule's decision is changed after it. */
export function deciding(name: string, change: (decision: Decision, context: Context) => Decision): Change {
  return withRule(name, rule => (subject, context) => change(rule.decide(subject, context), context));
}

/** One rule sees a picture in which something is otherwise. */
export function blinded(name: string, members: (picture: Picture) => Partial<Picture>): Change {
  return withRule(name, rule => (subject, context) => {
    const picture = altered(context.picture, members(context.picture));
    return rule.decide(subject, { ...context, picture });
  });
}

/** Objects of a kind come into the picture otherwise than they are. */
export function seeing(plural: string, change: (raw: KubeObject) => KubeObject): Change {
  return options => ({
    ...options,
    feed: wanted => {
      if (wanted.resource.plural !== plural) return options.feed(wanted);
      return options.feed({ ...wanted, project: (raw, previous) => wanted.project(change(raw), previous) });
    },
  });
}

/** The spec of objects of a kind comes without some of its fields. */
export function overlooking(plural: string, ...fields: readonly string[]): Change {
  return seeing(plural, raw => {
    const spec = Object.entries(raw["spec"] ?? {}).filter(([field]) => !fields.includes(field));
    return { ...raw, spec: Object.fromEntries(spec) };
  });
}
