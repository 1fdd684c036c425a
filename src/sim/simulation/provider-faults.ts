// The provider as it is on a bad day: errors, answers that get lost, calls that never end. Everything else is its own.

import type { InstanceProvider } from "../../control/ports.ts";
import type { ProviderError } from "../../snapshot/instance.ts";
import type { ActiveFaults, Span } from "./active-faults.ts";
import type { providerCalls, providerFaultKinds } from "./scenario.ts";

export type ProviderCall = (typeof providerCalls)[number];
export type ProviderFault = Span & {
  readonly fault: (typeof providerFaultKinds)[number];
  readonly calls?: readonly ProviderCall[];
};

type Listed = Exclude<Awaited<ReturnType<InstanceProvider["list"]>>, ProviderError>;

export function withProviderFaults(provider: InstanceProvider, faults: ActiveFaults<ProviderFault>): InstanceProvider {
  let last: Listed | undefined;
  const struck = async <T>(
    call: ProviderCall,
    signal: AbortSignal | undefined,
    ask: () => Promise<T>,
    old: () => T | undefined = () => undefined,
  ): Promise<T | ProviderError> => {
    const fault = faults.isEmpty ? undefined : faults.strike(one => callsOf(one, call).includes(call));
    if (fault === undefined) return ask();
    if (fault.fault === "Hang") return untilAborted(signal);
    if (fault.fault === "OldList") return old() ?? ask();
    if (fault.fault !== "LostAnswer") return { error: fault.fault, message: `simulated: ${call} fails` };
    await ask();
    return { error: "Unknown", message: `simulated: the answer to ${call} is lost` };
  };
  const list: InstanceProvider["list"] = async (cluster, options) => {
    const answer = await provider.list(cluster, options);
    if (!("error" in answer)) last = answer;
    return answer;
  };
  return {
    get view() {
      return provider.view;
    },
    onChange: changed => provider.onChange(changed),
    create: (request, options) => struck("create", options?.signal, () => provider.create(request, options)),
    get: (id, options) => struck("get", options?.signal, () => provider.get(id, options)),
    list: (cluster, options) =>
      struck(
        "list",
        options?.signal,
        () => list(cluster, options),
        () => last,
      ),
    delete: (id, options) => struck("delete", options?.signal, () => provider.delete(id, options)),
    reboot: (id, token, options) => struck("reboot", options?.signal, () => provider.reboot(id, token, options)),
    stop: () => provider.stop(),
  };
}

function callsOf({ fault, calls }: ProviderFault, asked: ProviderCall): readonly ProviderCall[] {
  return fault === "OldList" ? ["list"] : (calls ?? [asked]);
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new Error("simulated: no answer in time")), { once: true });
  });
}
