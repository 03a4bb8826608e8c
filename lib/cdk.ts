/** The deployment API: one construct, or a stack around it. */
export type { App } from '#authoring/workflow';
export type { AlarmThresholds } from '#infrastructure/alarms';
export type { FunctionSettings } from '#infrastructure/lambda-function';
export { OrderProcessing, type OrderProcessingProps } from '#infrastructure/order-processing';
export { OrderStack, type OrderStackProps } from '#infrastructure/stack';
export type { ExternalIssuer } from '#infrastructure/token-issuer';
