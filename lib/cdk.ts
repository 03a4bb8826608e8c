/** What the system is deployed with: one construct, or a stack around it. */
export type { App } from './authoring/workflow.ts';
export type { AlarmThresholds } from './infrastructure/alarms.ts';
export type { ExternalIssuer } from './infrastructure/identity.ts';
export type { JobSettings } from './infrastructure/job.ts';
export { OrderProcessing, type OrderProcessingProps } from './infrastructure/order-processing.ts';
export { OrderStack, type OrderStackProps } from './infrastructure/stack.ts';
