// The cells of `kubectl get` that many kinds share. A cell never fails: what is absent is shown as the server shows it.

import { formatSelector, type LabelSelector, selectorOf } from "../../api/selector.ts";
import { age } from "../age.ts";
import type { Column } from "../kind.ts";

type Cell = Column["cell"];

export function text(name: string, description: string, cell: Cell): Column {
  return { name, type: "string", description, priority: 0, cell };
}

export function integer(name: string, description: string, cell: Cell): Column {
  return { name, type: "integer", description, priority: 0, cell };
}

export function boolean(name: string, description: string, cell: Cell): Column {
  return { name, type: "boolean", description, priority: 0, cell };
}

/** Shown with -o wide only. */
export function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

export const nameColumn: Column = {
  ...text("Name", "Name of the object, unique in its namespace or in the cluster.", object => object.metadata.name),
  format: "name",
};

export const ageColumn: Column = text("Age", "Time since the object was created.", (object, now) =>
  age(object.metadata.creationTimestamp, now),
);

/** `a=b,c=d` with the keys in order; `<none>` for no labels. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? "<none>" : pairs.sort().join(",");
}

/** A number that the object may leave out. */
export function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Names and images of the containers of a pod template, and the labels it is found by: the wide columns of workloads. */
type Containers = readonly { name: string; image?: string }[];

type WithTemplate = { spec: { template: { spec: { containers: Containers | null } } } };

const containersOf = (object: unknown) => (object as WithTemplate).spec.template.spec.containers ?? [];

export const templateColumns: readonly Column[] = [
  wide(text("Containers", "Names of the containers of the template.", object => names(containersOf(object)))),
  wide(text("Images", "Images of the containers of the template.", object => images(containersOf(object)))),
];

function names(containers: Containers): string {
  return containers.map(container => container.name).join(",");
}

function images(containers: Containers): string {
  return containers.map(container => container.image ?? "").join(",");
}

/** A label selector in its string form; `none` stands for one that selects nothing or everything. */
export function selectorText(selector: LabelSelector | null | undefined, none: string): string {
  const parsed = selectorOf(selector ?? {});
  return parsed.ok ? formatSelector(parsed.value) || none : "<error>";
}
