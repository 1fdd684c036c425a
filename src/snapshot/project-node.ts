// What is kept of a Node. A heartbeat changes nothing of it, and so is no change.

import type { KubeObject } from "../api/meta.ts";
import type { Taint } from "../api/taint.ts";
import { looksLike } from "./looks-like.ts";
import { conditionsOf, metaOf, ownersOf } from "./project-meta.ts";
import { fields, items, texts, word } from "./raw.ts";
import type { NodeView } from "./views.ts";

export function projectNode(raw: KubeObject, previous: NodeView | undefined): NodeView {
  const view = nodeView(raw);
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

function nodeView(raw: KubeObject): NodeView {
  const spec = fields(raw["spec"]);
  const status = fields(raw["status"]);
  const providerID = word(spec["providerID"]);
  const bootID = word(fields(status["nodeInfo"])["bootID"]);
  return {
    conditions: conditionsOf(status["conditions"]),
    ...metaOf(raw),
    ...(providerID === undefined ? {} : { providerID }),
    taints: items(spec["taints"]).filter(isTaint),
    isCordoned: spec["unschedulable"] === true,
    ...(bootID === undefined ? {} : { bootID }),
    capacity: texts(status["capacity"]),
    allocatable: texts(status["allocatable"]),
    owners: ownersOf(raw),
  };
}

function isTaint(value: unknown): value is Taint {
  const { key, effect, value: content = "" } = fields(value);
  return typeof key === "string" && typeof effect === "string" && typeof content === "string";
}
