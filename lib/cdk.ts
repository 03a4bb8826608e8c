/** The deployment API: one construct, or a stack around it. */
export type { App } from '#authoring/workflow';
export type { AlarmThresholds } from '#infrastructure/alarms';
export type { BackupSettings } from '#infrastructure/backup';
export type { AgentCredential, AgentCredentials } from '#infrastructure/credentials';
export type { Firewall } from '#infrastructure/firewall';
export type { FunctionSettings } from '#infrastructure/lambda-function';
export type { NotificationSettings } from '#infrastructure/notifications';
export { OrderProcessing } from '#infrastructure/order-processing';
export type { OrderProcessingProps } from '#infrastructure/order-processing-props';
export { OrderStack, type OrderStackProps } from '#infrastructure/stack';
export type { ExternalIssuer, ExternalSignIn, SignIn } from '#infrastructure/token-issuer';
export type { VpcSettings } from '#infrastructure/vpc';
