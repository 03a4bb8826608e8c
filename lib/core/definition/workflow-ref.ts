/** One version of a workflow. */
export interface WorkflowRef {
  readonly name: string;
  readonly version: number;
}

/** Formats a version of a workflow, such as `ship-one@1`. The activity `call` uses this text as the name of its operation. */
export const workflowRef = ({ name, version }: WorkflowRef): string => `${name}@${version}`;

/** Parses a text that `workflowRef` has made. Another text gives a version that no workflow has, such as NaN. */
export function parseWorkflowRef(text: string): WorkflowRef {
  const [name = '', version] = text.split('@');
  return { name, version: Number(version) };
}
