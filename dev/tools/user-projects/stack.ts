import { App } from 'aws-cdk-lib';
import { OrderStack } from 'redress/cdk';
import app from './examples/orders/app.ts';

export const stack = new OrderStack(new App(), 'Orders', { orders: { app, entry: 'app.ts' } });
