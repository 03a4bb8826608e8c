/** A CloudFormation template, as CDK writes it. */
export interface Template {
  readonly Resources: { readonly [id: string]: Resource };
  readonly Outputs?: { readonly [id: string]: unknown };
}

export interface Resource {
  readonly Type: string;
  readonly Properties?: Properties;
}

export type Properties = { readonly [name: string]: unknown };

/** A part of a template that AWS would refuse during the deployment, or that would not work after it. */
export interface Violation {
  /** The rule's name, such as `PolicyTooLarge`. */
  readonly rule: string;
  /** The logical id of the resource. */
  readonly resource: string;
  readonly property: string;
  readonly problem: string;
  readonly remedy: string;
}

/** Reads one template and returns the violations of one rule. */
export type Rule = (template: Template) => readonly Violation[];

/** Returns the resources of a type, with their ids and properties. */
export const resourcesOf = (template: Template, type: string): readonly (readonly [id: string, properties: Properties])[] =>
  Object.entries(template.Resources).flatMap(([id, { Type, Properties = {} }]) => (Type === type ? [[id, Properties] as const] : []));

export const objectIn = (value: unknown): Properties => (typeof value === 'object' && value !== null ? (value as Properties) : {});

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
