/** One version of a workflow. */
export interface WorkflowRef {
  readonly name: string;
  readonly version: number;
}

/** Formats a version of a workflow, such as `ship-one@1`. It is also the operation of a call. */
export const workflowRef = ({ name, version }: WorkflowRef): string => `${name}@${version}`;

/** Parses the text of `workflowRef`. The version of any other text is NaN, which no workflow has. */
export function parseWorkflowRef(text: string): WorkflowRef {
  const [name = '', version] = text.split('@');
  return { name, version: Number(version) };
}
