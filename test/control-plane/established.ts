// Until every definition of a server is served. Not by `kubectl wait`: it fails on one that has no conditions yet.

import { vi } from "vitest";
import type { ControlPlane } from "./start.ts";

type Definition = {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
};

export async function established(plane: ControlPlane): Promise<void> {
  await vi.waitFor(
    async () => {
      const { code, stdout, stderr } = await plane.kubectl(["get", "crd", "-o", "json"]);
      if (code !== 0) throw new Error(`kubectl get crd: ${stderr}`);
      const { items } = JSON.parse(stdout) as { items: readonly Definition[] };
      const waiting = items.filter(item => !isEstablished(item)).map(({ metadata }) => metadata.name);
      if (waiting.length > 0) throw new Error(`not served yet: ${waiting.join(", ")}`);
    },
    { timeout: 60_000, interval: 200 },
  );
}

function isEstablished({ status }: Definition): boolean {
  return status?.conditions?.some(({ type, status: word }) => type === "Established" && word === "True") ?? false;
}
