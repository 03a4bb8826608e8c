import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { OrderProcessing } from './order-processing.ts';
import type { OrderProcessingProps } from './order-processing-props.ts';

export interface OrderStackProps extends StackProps {
  readonly orders: OrderProcessingProps;
}

/** A stack with the system and its outputs. */
export class OrderStack extends Stack {
  readonly orders: OrderProcessing;

  constructor(scope: Construct, id: string, { orders, ...props }: OrderStackProps) {
    // A stack that keeps its data is not deleted by one command, either.
    const terminationProtection = orders.removalPolicy !== RemovalPolicy.DESTROY;
    super(scope, id, { description: 'Redress: durable order processing', terminationProtection, ...props });
    this.orders = new OrderProcessing(this, 'Orders', orders);
    const { url, alerts, table, bus, queuePrefix, users, auditLog } = this.orders;
    const put = (name: string, description: string, value: string): void => void new CfnOutput(this, name, { description, value });
    put('ApiUrl', 'URL of the API', url);
    put('AlertsTopicArn', 'Subscribe operators here', alerts.topicArn);
    put('TableName', 'REDRESS_TABLE', table.tableName);
    put('BusName', 'REDRESS_BUS', bus.eventBusName);
    put('QueuePrefix', 'REDRESS_QUEUE_PREFIX', queuePrefix);
    put('AuditLogGroup', 'The audit', auditLog.logGroupName);
    if (!users) return;
    put('UserPoolId', 'Invite the first operator here', users.pool.userPoolId);
    put('UserPoolClientId', 'App client for people', users.people.userPoolClientId);
    put('SignInUrl', 'Address of the sign-in, and of tokens for programs', users.signInUrl);
    for (const [program, client] of users.programs)
      put(`Client${program.replace(/[^A-Za-z0-9]/g, '')}`, `App client for ${program}`, client.userPoolClientId);
  }
}
