// What those who help to make a picture look at of it, so that they need not know the whole.

import type { Pod } from "../../api/pod.ts";
import type { Census, Count } from "./census.ts";
import type { Ground } from "./ground.ts";
import type { Hosts } from "./hosts.ts";
import type { Footprint, Kind } from "./kind.ts";
import type { PoolTemplate } from "./pool-template.ts";
import type { RequirementTable } from "./requirements.ts";
import type { Amounts, ResourceSpace } from "./resources.ts";
import type { Texts } from "./texts.ts";
import type { Wishes } from "./wishes.ts";

/** A pod on a host. */
export type Resident = { pod: Pod; footprint: Footprint; amounts: Amounts; terminating: boolean };

export type PictureParts = {
  readonly space: ResourceSpace;
  readonly texts: Texts;
  readonly table: RequirementTable;
  readonly census: Census;
  readonly hosts: Hosts;
  readonly residents: readonly ReadonlyMap<string, Resident>[];
  readonly pools: readonly PoolTemplate[];
  readonly ground: Pick<Ground, "namespaces">;
  readonly daemons: readonly Pod[];
  readonly kinds: readonly Kind[];
  amounts(pod: Pod): Amounts;
  kind(pod: Pod, signature?: string, wishes?: Wishes): Kind;
  begin(count: Count): void;
};
