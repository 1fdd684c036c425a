// An event as it is kept: in the form of the core group, after decoding.

import type { KubeObject } from "../../api/meta.ts";

type Reference = {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  [field: string]: string | undefined;
};

export type Event = KubeObject & {
  involvedObject: Reference;
  related?: Reference;
  reason?: string;
  message?: string;
  type?: string;
  action?: string;
  count?: number;
  source: { component?: string; host?: string };
  reportingComponent: string;
  reportingInstance: string;
  firstTimestamp: string | null;
  lastTimestamp: string | null;
  eventTime: string | null;
  series?: { count?: number; lastObservedTime: string | null };
};
