// What the server refuses in a pod or a pod template.
import type { FieldError } from "../../api/schema/schema.ts";
import type { Pod, PodTemplate } from "./pod-types.ts";
export function podErrors(_pod: Pod, _context: { old: Pod | undefined; statusOnly: boolean }): FieldError[] {
  return [];
}
export function podTemplateErrors(_template: PodTemplate, _path: string): FieldError[] {
  return [];
}
