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

export function withProviderFaults(provider: InstanceProvider, faults: ActiveFaults<ProviderFault>): InstanceProvider {
  const struck = async <T>(
    call: ProviderCall,
    signal: AbortSignal | undefined,
    ask: () => Promise<T>,
  ): Promise<T | ProviderError> => {
    const fault = faults.isEmpty
      ? undefined
      : faults.strike(({ calls }) => calls === undefined || calls.includes(call));
    if (fault === undefined) return ask();
    if (fault.fault === "Hang") return untilAborted(signal);
    if (fault.fault !== "LostAnswer") return { error: fault.fault, message: `simulated: ${call} fails` };
    await ask();
    return { error: "Unknown", message: `simulated: the answer to ${call} is lost` };
  };
  return {
    get view() {
      return provider.view;
    },
    onChange: changed => provider.onChange(changed),
    create: (request, options) => struck("create", options?.signal, () => provider.create(request, options)),
    get: (id, options) => struck("get", options?.signal, () => provider.get(id, options)),
    list: (cluster, options) => struck("list", options?.signal, () => provider.list(cluster, options)),
    delete: (id, options) => struck("delete", options?.signal, () => provider.delete(id, options)),
    reboot: (id, token, options) => struck("reboot", options?.signal, () => provider.reboot(id, token, options)),
    stop: () => provider.stop(),
  };
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new Error("simulated: no answer in time")), { once: true });
  });
}
